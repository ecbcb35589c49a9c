// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Monitor proves informers fresh, and cures those that are not. Make one with
// New, give its NewInformer to the cache, and run it with Start.
//
// A Monitor is a manager.Runnable for every replica, a healthz.Checker through
// Check, and a prometheus.Collector. All methods are safe for concurrent use.
type Monitor struct {
	opts   Options
	limits limits
	clock  clock.WithTicker
	descs  descs

	limiter  limiter
	results  chan result
	slots    chan struct{}
	auditing chan struct{} // the one slot for audits
	reads    sync.WaitGroup

	mu          sync.Mutex
	started     bool
	reconnected time.Time // when new connections were last asked for
	unwired     time.Time // when to say that no informer was ever made; zero: said, or not needed
	log         logr.Logger
	informers   []*tracked
	absences    []absence     // of those expected
	swept       time.Time     // when informers were last looked at
	spreadAt    time.Time     // when proofs were last looked at together
	events      []Event       // to be told once the lock is free
	changed     chan struct{} // closed, and replaced, when something was proven or a verdict has changed
}

// New returns a Monitor. It fails if an option is out of range, naming the
// option, its value and the rule.
func New(opts Options) (*Monitor, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	absences := make([]absence, len(opts.Expected))
	for i, name := range opts.Expected {
		absences[i].name = name
	}
	return &Monitor{
		absences: absences,
		opts:     opts,
		limits:   opts.limits(),
		clock:    opts.Clock,
		descs:    newDescs(),
		results:  make(chan result),
		slots:    make(chan struct{}, opts.ConcurrentReads),
		auditing: make(chan struct{}, 1),
		log:      opts.Logger,
		changed:  make(chan struct{}),
	}, nil
}

// NewInformer makes a SharedIndexInformer like cache.NewSharedIndexInformer and
// has it monitored. It has the signature that controller-runtime's
// cache.Options.NewInformer wants, and serves plain client-go as well.
//
// The informer is monitored from the first look after it was made until it
// stops.
func (m *Monitor) NewInformer(lw cache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	wrapped := newListerWatcher(lw, m.clock, &m.limiter)
	inf := cache.NewSharedIndexInformer(wrapped, obj, resync, indexers)
	m.add(inf, wrapped, guessInformer(obj))
	return inf
}

// WrapListerWatcher wraps lw for an informer that is made elsewhere, such as
// with cache.NewSharedIndexInformerWithOptions. Pass the result to that and to
// Track.
func (m *Monitor) WrapListerWatcher(lw cache.ListerWatcher) cache.ListerWatcher {
	return newListerWatcher(lw, m.clock, &m.limiter)
}

// Informed is what a monitor wants of an informer. A cache.SharedIndexInformer has
// it; for one that is made with cache.NewInformerWithOptions, its controller and its
// store together have.
type Informed interface {
	HasSynced() bool
	LastSyncResourceVersion() string
	GetStore() cache.Store
	IsStopped() bool
}

// Track monitors an informer whose ListerWatcher came from WrapListerWatcher, and
// must be the one that the informer was made with. name is used until the
// informer's own requests tell better; it may be zero.
func (m *Monitor) Track(inf Informed, lw cache.ListerWatcher, name Informer) error {
	wrapped, ok := lw.(*listerWatcher)
	if !ok {
		return fmt.Errorf("freshness: Track wants a ListerWatcher from WrapListerWatcher, got %T", lw)
	}
	if inf == nil {
		return errors.New("freshness: Track wants an informer, got nil")
	}
	if name.Resource == "" {
		name.Resource = "unknown"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.informers {
		if t.informer.GetStore() == inf.GetStore() || t.lw == wrapped {
			return errors.New("freshness: Track wants an informer and a ListerWatcher of its own for each; one of these is tracked already")
		}
	}
	m.addLocked(inf, wrapped, name)
	return nil
}

func (m *Monitor) add(inf Informed, lw *listerWatcher, guess Informer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addLocked(inf, lw, guess)
}

func (m *Monitor) addLocked(inf Informed, lw *listerWatcher, guess Informer) {
	t := &tracked{
		informer: inf, lw: lw, guess: guess,
		state: state{limits: m.limits, salt: rand.Uint64()}, since: m.clock.Now(), //nolint:gosec // no secret
	}
	t.byEvent = t.mayBeEvent
	m.informers = append(m.informers, t)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: standby replicas
// serve webhooks from the same caches, so they are monitored too.
func (m *Monitor) NeedLeaderElection() bool { return false }

// Start monitors until ctx ends. It fails if the monitor was started before.
//
// A controller-runtime manager starts what is added to it once its caches have
// synced. Until then nothing is monitored, so an operator that wants initial
// lists that never end to be cut (Options.SyncTimeout) calls Start in a goroutine
// of its own, before the manager's.
func (m *Monitor) Start(ctx context.Context) error {
	m.mu.Lock()
	if m.started {
		m.mu.Unlock()
		return errors.New("freshness: the monitor was started before")
	}
	m.started, m.unwired = true, m.clock.Now().Add(time.Minute)
	if m.log.GetSink() == nil {
		m.log = klog.FromContext(ctx).WithName("freshness")
	}
	m.mu.Unlock()

	defer m.reads.Wait()
	timer := m.clock.NewTimer(tick)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-m.results:
			m.take(r)
		case <-timer.C():
			m.sweep(ctx)
			timer.Reset(tick)
		}
	}
}

// sweep looks at every informer once.
func (m *Monitor) sweep(ctx context.Context) {
	m.mu.Lock()
	now := m.clock.Now()
	m.sayIfUnwired(now)
	crowd, disturbed := m.crowd(), m.disturbed(now)
	kept := m.informers[:0]
	for _, t := range m.informers {
		if now.Before(t.rests) && !disturbed {
			t.state.swept = now
			kept = append(kept, t)
			continue
		}
		if t.informer.IsStopped() {
			t.abandon()
			m.bequeath(t)
			continue
		}
		kept = append(kept, t)
		t.stopReads(now.Add(-m.opts.ReadTimeout))
		if t.misled() {
			m.conclude(t, now)
			continue
		}
		o := t.look(now)
		o.crowd = crowd
		m.accuse(ctx, t, o)
		t.handlers.look(now.Sub(t.state.swept))
		for _, a := range t.state.step(o) {
			m.do(ctx, t, a)
		}
		m.conclude(t, now)
		t.rests = t.restsUntil(o)
	}
	clear(m.informers[len(kept):])
	m.informers = kept
	m.spread(now)
	m.miss(now)
	m.tell()
}

// bequeath hands the counts of an informer that has stopped to another of the
// same name, if there is one, since the series they share must not go down.
func (m *Monitor) bequeath(gone *tracked) {
	for _, t := range m.informers {
		if t != gone && !t.informer.IsStopped() && t.name() == gone.name() {
			t.state.counters.add(gone.state.counters)
			return
		}
	}
}

// take hands an answer to the informer that asked.
func (m *Monitor) take(r result) {
	m.mu.Lock()
	t := r.informer
	t.reads[r.kind], t.rests = pendingRead{}, time.Time{}
	now := r.answer.received
	switch r.kind {
	case actServers:
		t.state.onServers(r.servers)
		now = m.clock.Now()
	case actProbe:
		t.state.onProbe(r.answer)
	case actAudit:
		t.state.onAudit(r.audit)
		now = r.audit.received
	default:
		t.state.onRead(r.answer)
	}
	m.conclude(t, now)
	m.tell()
}

// conclude collects what a step brought about, and a change of verdict. The
// caller holds the lock.
func (m *Monitor) conclude(t *tracked, now time.Time) {
	name := t.name()
	for _, e := range t.state.events {
		e.Informer = name
		switch e.Type {
		case CureStarted:
			e.Verdict = t.verdict
			t.tellHow(&e)
		case CureProven, CureFailed:
			e.Verdict = t.verdict
		default: // the others are complete
		}
		m.events = append(m.events, e)
	}
	t.state.events = t.state.events[:0]
	if v := t.state.verdict(now); v != t.verdict {
		e := Event{
			Time: now, Informer: name, Type: VerdictChanged,
			Verdict: v, Previous: t.verdict, Reason: t.reason(v, now),
		}
		t.tellHow(&e)
		m.events = append(m.events, e)
		t.verdict, t.since = v, now
	}
	if l := t.behind(); l != t.lagging {
		m.events = append(m.events, Event{Time: now, Informer: name, Type: LevelChanged, Behind: l, Reason: t.reason(t.verdict, now)})
		t.lagging = l
	}
}

// tell releases the lock and reports the collected events.
func (m *Monitor) tell() {
	events := m.events
	m.events = nil
	if slices.ContainsFunc(events, func(e Event) bool { return e.Type.awaited() }) {
		close(m.changed)
		m.changed = make(chan struct{})
	}
	m.mu.Unlock()
	for _, e := range events {
		logEvent(m.log, e)
		if m.opts.Observer != nil {
			m.opts.Observer(e)
		}
	}
}
