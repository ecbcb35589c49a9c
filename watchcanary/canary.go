// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/internal/restartlease"
)

// Source is what a canary takes its client from, so that it shares the connection with
// the caches it stands for. A controller-runtime manager.Manager is one; a program
// without one uses Client.
type Source interface {
	GetConfig() *rest.Config
	GetHTTPClient() *http.Client
}

// Client is the Source of a program that has no manager. HTTP is the client that its
// informers use, as from rest.HTTPClientFor.
type Client struct {
	Config *rest.Config
	HTTP   *http.Client
}

// GetConfig implements Source.
func (c Client) GetConfig() *rest.Config { return c.Config }

// GetHTTPClient implements Source.
func (c Client) GetHTTPClient() *http.Client { return c.HTTP }

// tick is how often the canary looks at itself.
const tick = time.Second

// Canary writes a Lease and waits to see the write come back. Make one with New, and
// run it, on the leader only, with Start.
//
// A Canary is a manager.LeaderElectionRunnable, a healthz.Checker through Check, and a
// prometheus.Collector. All methods are safe for concurrent use.
type Canary struct {
	opts   Options
	client kubernetes.Interface
	descs  descs
	trips  histogram

	mu     sync.Mutex
	recent []RoundTrip
	run    *run // nil: this process does not lead
	counts
	state State
	since time.Time
	lines []func() // to be logged once the lock is free
}

// New returns a Canary that uses the client of from, usually the manager. It fails if
// an option is out of range, naming the option, its value and the rule, and sends
// nothing.
func New(from Source, opts Options) (*Canary, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if isNil(from) || from.GetConfig() == nil || from.GetHTTPClient() == nil {
		return nil, errors.New("watchcanary: New wants a manager, or a Client with both Config and HTTP, so that the canary shares their connection")
	}
	client, err := kubernetes.NewForConfigAndClient(from.GetConfig(), from.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("watchcanary: %w", err)
	}
	return &Canary{
		opts: opts, client: client, since: opts.Clock.Now(),
		descs: newDescs(opts.Namespace, opts.Name), trips: newHistogram(opts.Namespace, opts.Name),
	}, nil
}

func isNil(from Source) bool {
	v := reflect.ValueOf(from)
	return from == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// unlock frees the lock, and logs what was noted under it: a sink that blocks must not
// block Check.
func (c *Canary) unlock() {
	lines := c.lines
	c.lines = nil
	c.mu.Unlock()
	for _, say := range lines {
		say()
	}
}

// say notes a line for the log. The caller holds the lock.
func (c *Canary) say(log logr.Logger, text string, keysAndValues ...any) {
	c.lines = append(c.lines, func() { log.Info(text, keysAndValues...) })
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: only the leader writes.
func (c *Canary) NeedLeaderElection() bool { return true }

// Start writes and watches until ctx ends. It fails only while it runs already; after
// it has returned it can be called again, as by a process that leads again.
//
// A controller-runtime manager calls it once this process leads. With client-go's
// leaderelection call it from OnStartedLeading.
func (c *Canary) Start(ctx context.Context) error {
	r, err := c.begin(ctx)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer c.end()
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := c.watch(ctx, r, &wg); err != nil {
		return err
	}
	results := make(chan written)
	timer := c.opts.Clock.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case w := <-results:
			c.take(r, w)
		case <-timer.C():
			if ctx.Err() != nil {
				return nil // the informer has ended, too, which says nothing
			}
			if b, edit, due := c.look(r); due {
				wg.Go(func() { c.write(ctx, r, b, edit, results) })
			}
			timer.Reset(tick)
		}
	}
}

// begin opens the books on a term of leadership.
func (c *Canary) begin(ctx context.Context) (*run, error) {
	log := c.opts.Logger
	if log.GetSink() == nil {
		log = klog.FromContext(ctx).WithName("watchcanary")
	}
	c.mu.Lock()
	defer c.unlock()
	if c.run != nil {
		return nil, errors.New("watchcanary: the canary runs already: it was added to the manager twice, or Start called twice")
	}
	now := c.opts.Clock.Now()
	c.run = &run{
		log: log.WithValues("lease", c.opts.Namespace+"/"+c.opts.Name), began: now, looked: now, next: now,
		writer: writer{
			client: c.client.CoordinationV1().Leases(c.opts.Namespace),
			name:   c.opts.Name, identity: c.opts.Identity, duration: c.opts.FailAfter, interval: c.opts.Interval,
		},
	}
	c.conclude(now)
	return c.run, nil
}

func (c *Canary) end() {
	c.mu.Lock()
	defer c.unlock()
	c.say(c.run.log, "Watch canary changed", "state", Standby, "previous", c.state, "reason", "this process does not lead any more")
	c.run = nil
	c.state, c.since = Standby, c.opts.Clock.Now()
}

// watch starts the informer, and the monitor where nobody else has.
func (c *Canary) watch(ctx context.Context, r *run, wg *sync.WaitGroup) error {
	m := c.opts.Monitor
	if m == nil {
		var err error
		m, err = freshness.New(freshness.Options{
			DisabledCures: []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List, freshness.Reconnect},
			Audit:         freshness.AuditOptions{Disabled: true},
			Logger:        logr.New(silence{}), // the canary says it
			Clock:         c.opts.Clock,
		})
		if err != nil {
			return fmt.Errorf("watchcanary: %w", err)
		}
		wg.Go(func() { _ = m.Start(ctx) }) // it was never started before
	}
	inf := m.NewInformer(c.listWatch(), &coordinationv1.Lease{}, 0, cache.Indexers{})
	if err := m.LeaveOutOfCheck(inf); err != nil { // the canary decides, within its budget
		return fmt.Errorf("watchcanary: %w", err)
	}
	c.mu.Lock()
	r.monitor, r.informer = m, inf
	c.mu.Unlock()
	saw := func(obj any) {
		if lease, ok := obj.(*coordinationv1.Lease); ok {
			c.saw(r, lease.ResourceVersion)
		}
	}
	if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: saw, UpdateFunc: func(_, obj any) { saw(obj) }}); err != nil {
		return fmt.Errorf("watchcanary: %w", err)
	}
	wg.Go(func() { inf.RunWithContext(ctx) })
	return nil
}

// listWatch lists and watches the one Lease.
func (c *Canary) listWatch() cache.ListerWatcher {
	client := c.client.CoordinationV1().Leases(c.opts.Namespace)
	selector := "metadata.name=" + c.opts.Name
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return client.Watch(ctx, o)
		},
	}, c.client)
}

// write writes the Lease, and asks for this process's rights where there is doubt. It
// does not wait longer than it has time, even where the client does.
func (c *Canary) write(ctx context.Context, r *run, b beat, edit func(restartlease.Restarts) restartlease.Restarts, results chan<- written) {
	writing, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	type outcome struct {
		written
		writer writer
	}
	done := make(chan outcome, 1)
	w := r.writer
	go func() { // left behind if the client does not look at its context
		if b.review {
			missing, err := restartlease.Missing(writing, c.client.AuthorizationV1().SelfSubjectAccessReviews(), c.opts.Namespace, c.opts.Name, rules(c.opts.Name))
			c.note(r, missing, err)
		}
		out := w.write(writing, b, edit)
		out.acked = c.opts.Clock.Now()
		done <- outcome{out, w}
	}()
	var out written
	select {
	case got := <-done:
		out, r.writer = got.written, got.writer
	case <-writing.Done():
		out = written{beat: b, err: fmt.Errorf("no answer within %v: %w", writeTimeout, writing.Err())}
		r.writer.known = nil
	}
	if out.err == nil {
		r.monitor.Wrote(c.informer(), c.opts.Namespace+"/"+c.opts.Name, out.rv)
	}
	select {
	case results <- out:
	case <-ctx.Done():
	}
}

// informer is the name of the canary's own.
func (c *Canary) informer() freshness.Informer {
	v := coordinationv1.SchemeGroupVersion
	return freshness.Informer{Group: v.Group, Version: v.Version, Resource: restartlease.Resource, Namespace: c.opts.Namespace}
}

// jittered is a little less than an Interval, so that no two replicas and no two
// programs write in step.
func (c *Canary) jittered() time.Duration {
	return c.opts.Interval - time.Duration(rand.Int64N(int64(c.opts.Interval)/10)) //nolint:gosec // no secret
}
