// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/internal/restartlease"
	"github.com/freshwatch/freshwatch/watchcanary"
)

const (
	// tick is how often the canary and the reconciles are looked at.
	tick = 2 * time.Second
	// writeTimeout bounds one attempt to write an Event.
	writeTimeout = 10 * time.Second
	// flushTimeout bounds what is written at the end.
	flushTimeout = 5 * time.Second
	leaveTimeout = time.Second
)

// Events writes Kubernetes Events about what is wrong with a program's informers, its
// canary and its reconciles. Make it with New, give ObserveIncident to a flight recorder,
// and run it on every replica with Start.
//
// It is a manager.Runnable and a prometheus.Collector. All methods are safe for concurrent
// use.
type Events struct {
	opts   Options
	client kubernetes.Interface
	target target

	mu      sync.Mutex
	running bool
	pending *pending
	told    map[int]struct{} // IDs of incidents whose beginning was
	counts  [len(resultNames)]uint64
}

// New returns Events that are written with the client of from, usually the manager. It
// fails if an option is out of range, naming the option, its value and the rule. It sends
// nothing, and reads the file of the client's token, for the Pod that it names.
func New(from watchcanary.Source, opts Options) (*Events, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if isNil(from) || from.GetConfig() == nil || from.GetHTTPClient() == nil {
		return nil, errors.New("freshevents: New wants a manager, or a watchcanary.Client with both Config and HTTP")
	}
	client, err := kubernetes.NewForConfigAndClient(from.GetConfig(), from.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("freshevents: %w", err)
	}
	return newEvents(client, targetOf(from.GetConfig(), opts, restartlease.NamespaceFile), opts), nil
}

func newEvents(client kubernetes.Interface, t target, opts Options) *Events {
	return &Events{opts: opts, client: client, target: t, pending: newPending(opts.Clock), told: map[int]struct{}{}}
}

func isNil(from watchcanary.Source) bool {
	v := reflect.ValueOf(from)
	return from == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// ObserveIncident is a flightrecorder.Options.OnIncident. It takes a lock and a look-up,
// and does no I/O. What it is told before Start is written after it.
//
// It does nothing with nil Events, since a recorder has to be made before the client that
// New wants.
func (e *Events) ObserveIncident(i flightrecorder.Incident) {
	if e == nil {
		return
	}
	now := e.opts.Clock.Now()
	n, tell := noteOf(i, now)
	e.mu.Lock()
	defer e.mu.Unlock()
	_, told := e.told[i.ID] // whatever it has become meanwhile, its end is told, too
	if !i.Open() {
		delete(e.told, i.ID)
	} else if tell {
		e.told[i.ID] = struct{}{}
	}
	if told && !i.Open() && !tell {
		n, tell = overNote(i, now), true
	}
	if tell {
		e.pending.add(now, n)
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: each replica tells of its
// own informers.
func (e *Events) NeedLeaderElection() bool { return false }

// Start writes Events until ctx ends. Then it writes what is left, in at most five
// seconds, and returns. It fails only while it runs already; after it has returned it can
// be called again.
func (e *Events) Start(ctx context.Context) error {
	if !e.begin() {
		return errors.New("freshevents: Events run already: they were added to the manager twice, or Start called twice")
	}
	log := e.opts.Logger
	if log.GetSink() == nil {
		log = klog.FromContext(ctx).WithName("freshevents")
	}
	r := &run{Events: e, log: log, writer: newWriter(e.client, e.target, e.opts), outcomes: make(chan outcome, 1)}
	// What is under way when ctx ends has its time, too.
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer e.end()
	defer r.leave()
	defer cancel()
	ticker := e.opts.Clock.NewTicker(tick)
	defer ticker.Stop()
	r.do(writing, r.writer.check)
	for {
		select {
		case <-ctx.Done():
			r.flush(writing)
			return nil
		case o := <-r.outcomes:
			r.take(o)
		case <-ticker.C():
		}
		r.look()
		r.next(writing)
	}
}

func (e *Events) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.running
	e.running = true
	return !was
}

func (e *Events) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = false
}
