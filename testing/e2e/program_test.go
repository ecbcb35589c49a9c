// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// guard is a running monitor and all that it has told.
type guard struct {
	*freshness.Monitor

	mu        sync.Mutex
	events    []freshness.Event
	unhealthy error // what Check first objected to
}

// startGuard runs a monitor until the end of the test. Its liveness check fails
// as early as options can make it, so that one which should not fail has every
// opportunity.
func startGuard(t testing.TB, opts freshness.Options) *guard {
	t.Helper()
	g := &guard{}
	opts.FailAfter = freshness.DefaultMaxStaleness
	opts.Observer = func(e freshness.Event) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.events = append(g.events, e)
	}
	var err error
	if g.Monitor, err = freshness.New(opts); err != nil {
		t.Fatal(err)
	}
	untilEnd(t, func(ctx context.Context) {
		if err := g.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	untilEnd(t, func(ctx context.Context) {
		waitFor(ctx, time.Hour, func() bool {
			err := g.Check(nil)
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.unhealthy == nil {
				g.unhealthy = err
			}
			return false
		})
	})
	return g
}

// untilEnd runs f until the end of the test and waits for it.
func untilEnd(t testing.TB, f func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() { f(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
}

// liveness returns what Check first objected to.
func (g *guard) liveness() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unhealthy
}

// history returns the events of the informers that are to be looked at, so far.
func (g *guard) history(of func(freshness.Informer) bool) history {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.events), func(e freshness.Event) bool { return !of(e.Informer) })
}

func everyInformer(freshness.Informer) bool { return true }

// history is what happened to one informer, oldest first.
type history []freshness.Event

// since returns what happened after a moment.
func (h history) since(moment time.Time) history {
	return slices.DeleteFunc(slices.Clone(h), func(e freshness.Event) bool { return e.Time.Before(moment) })
}

// until returns what happened before a moment.
func (h history) until(moment time.Time) history {
	return slices.DeleteFunc(slices.Clone(h), func(e freshness.Event) bool { return !e.Time.Before(moment) })
}

func (h history) count(typ freshness.EventType) int {
	n := 0
	for _, e := range h {
		if e.Type == typ {
			n++
		}
	}
	return n
}

// cures returns the cures that were tried, or proven, in order.
func (h history) cures(typ freshness.EventType) []freshness.Rung {
	var out []freshness.Rung
	for _, e := range h {
		if e.Type == typ {
			out = append(out, e.Cure)
		}
	}
	return out
}

// verdicts returns the verdicts that were reached, in order.
func (h history) verdicts() []freshness.Verdict {
	var out []freshness.Verdict
	for _, e := range h {
		if e.Type == freshness.VerdictChanged {
			out = append(out, e.Verdict)
		}
	}
	return out
}

// verdict returns the one in force.
func (h history) verdict() freshness.Verdict {
	if all := h.verdicts(); len(all) > 0 {
		return all[len(all)-1]
	}
	return freshness.Syncing
}

// detected returns how long after a fault the guard did or said something about
// it; negative: never.
func (h history) detected(fault time.Time) time.Duration {
	for _, e := range h.since(fault) {
		if e.Type == freshness.CureStarted || e.Type == freshness.VerdictChanged && e.Verdict != freshness.Fresh {
			return e.Time.Sub(fault)
		}
	}
	return -1
}

// freshAsOf returns what the newest proof has proven.
func (h history) freshAsOf() time.Time {
	for _, e := range slices.Backward(h) {
		if e.Type == freshness.Proven {
			return e.FreshAsOf
		}
	}
	return time.Time{}
}

// longestGap returns the longest time from one proof to the next, or to now.
func (h history) longestGap(now time.Time) time.Duration {
	var last time.Time
	var longest time.Duration
	gap := func(to time.Time) {
		if !last.IsZero() {
			longest = max(longest, to.Sub(last))
		}
		last = to
	}
	for _, e := range h {
		if e.Type == freshness.Proven {
			gap(e.Time)
		}
	}
	gap(now)
	return longest
}

// String tells the history, relative to its beginning.
func (h history) String() string {
	var b strings.Builder
	for _, e := range h {
		fmt.Fprintf(&b, "%7.1f s %v", e.Time.Sub(h[0].Time).Seconds(), e.Type)
		switch e.Type {
		case freshness.VerdictChanged:
			fmt.Fprintf(&b, " %v -> %v: %s", e.Previous, e.Verdict, e.Reason)
		case freshness.Read:
			fmt.Fprintf(&b, " %s", e.ResourceVersion)
		case freshness.Proven:
			fmt.Fprintf(&b, " as of %.1f s", e.FreshAsOf.Sub(h[0].Time).Seconds())
		case freshness.CureStarted, freshness.CureProven, freshness.CureFailed:
			fmt.Fprintf(&b, " %v", e.Cure)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// dynamicLW returns what an informer of a kind in one namespace reads by.
func dynamicLW(client dynamic.Interface, k kind, ns string) cache.ListerWatcher {
	r := client.Resource(k.gvr()).Namespace(ns)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return r.Watch(ctx, o)
		},
	}
}

// reader changes how an informer reads; nil: not at all.
type reader func(cache.ListerWatcher) cache.ListerWatcher

// withoutWatchList makes client-go's reflector fill its cache by LIST, as it does
// by itself where the server has no WatchList.
func withoutWatchList(lw cache.ListerWatcher) cache.ListerWatcher {
	return listFirst{cache.ToListerWatcherWithContext(lw)}
}

type listFirst struct{ cache.ListerWatcherWithContext }

func (listFirst) IsWatchListSemanticsUnSupported() bool { return true }

func (l listFirst) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), o)
}

func (l listFirst) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), o)
}

// withoutContext makes a client of the time before ListerWatchers had contexts, and
// before WatchList.
func withoutContext(lw cache.ListerWatcher) cache.ListerWatcher { return contextless{lw} }

type contextless struct{ cache.ListerWatcher }

func (contextless) IsWatchListSemanticsUnSupported() bool { return true }

// program is an operator in small: an informer under guard, and a stock one.
type program struct {
	*guard
	guarded, stock cache.SharedIndexInformer
}

// startProgram runs the informers of a kind until the end of the test, each with
// a client of its own.
func startProgram(t testing.TB, b backend, k kind, opts freshness.Options, as reader) *program {
	t.Helper()
	p := &program{guard: startGuard(t, opts)}
	lw := func(agent string) cache.ListerWatcher {
		lw := dynamicLW(dynamicClient(t, b.config(agent)), k, b.namespace())
		if as != nil {
			return as(lw)
		}
		return lw
	}
	p.guarded = p.NewInformer(lw(guardedAgent), &unstructured.Unstructured{}, 0, cache.Indexers{})
	p.stock = cache.NewSharedIndexInformer(lw(stockAgent), &unstructured.Unstructured{}, 0, cache.Indexers{})
	untilEnd(t, p.guarded.RunWithContext)
	untilEnd(t, p.stock.RunWithContext)
	return p
}

// differs says how a cache differs from what the server has, if it does.
func differs(inf cache.SharedIndexInformer, want map[string]string) error {
	got := map[string]string{}
	for _, obj := range inf.GetStore().List() {
		o := obj.(*unstructured.Unstructured)
		got[o.GetName()] = o.GetResourceVersion()
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("%w: it holds %v, the server %v", errContents, got, want)
	}
	return nil
}
