// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// A reconcile that waits for what cannot come, and returns when its context ends, what a
// careless one returns: no error. It is tried again all the same, until it succeeds.
func TestRespectsItsContext(t *testing.T) {
	realplane.Test(t)
	for name, n := range map[string]int{"one worker": 1, "several workers": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedPlane.Get(t)
			o := newOperator(t, p, operatorOptions{})
			var healed atomic.Bool
			w := o.add(t, "respects", workers(n), func(ctx context.Context, _ *corev1.ConfigMap) error {
				if !healed.Load() {
					<-ctx.Done()
				}
				return nil
			})
			o.start(t)
			c := o.serve(t, p, w)
			await(t, patience, "customers are served", func() bool { return len(c.all()) >= customersAtOnce })

			const times = 2
			edit(t.Context(), t, p, o.ns, stuck, "first")
			await(t, patience, "overruns", func() bool { return len(w.returned()) >= times && len(o.journal.overruns(w.controller)) >= times })
			hung := w.returned()[:times]
			healed.Store(true)
			await(t, patience, "success", func() bool { a := w.returned(); return len(a) > times && a[len(a)-1].cause == nil })
			c.stop()

			overruns := len(w.returned()) - 1
			o.journal.wantOverruns(t, o.ns, w.controller, overruns, timeout)
			o.wantCounts(t, w.controller, map[string]float64{"deadline_overruns_total": float64(overruns), "wedges_total": 0, "held_twice_total": 0})
			if got := theirs(t, "controller_runtime_reconcile_errors_total", w.controller); got != float64(overruns) {
				t.Errorf("controller-runtime counts %v errors, want %d", got, overruns)
			}
			if got := theirs(t, "workqueue_retries_total", w.controller); got < float64(overruns) {
				t.Errorf("%v retries with back-off, want at least %d", got, overruns)
			}
			wantCut(t, hung)
			c.wantServed(t, n, hung...)
			w.wantOneAtOnce(t)
			o.wantIdle(t)
			longest, served := c.longest(hung[0].began)
			figures(t, map[string]any{"overrunAfter": hung[0].took(), "longestWaitOfOthers": longest, "othersServed": served})
		})
	}
}

// wantCut fails unless the contexts of all these have ended by their deadline.
func wantCut(t *testing.T, hung []attempt) {
	t.Helper()
	for _, a := range hung {
		var over *reconcile.DeadlineError
		if !errors.As(a.cause, &over) || over.Took != 0 {
			t.Errorf("the context of %+v has ended after %v by %v", a, a.took(), a.cause)
		}
	}
}

// wantCounts fails unless metrics of package reconcile have these values.
func (o *operator) wantCounts(t *testing.T, controller string, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if got := o.own(t, name, controller); got != v {
			t.Errorf("%s is %v, want %v", name, got, v)
		}
	}
}

// wantOneAtOnce fails if an object was reconciled twice at once.
func (w *worker) wantOneAtOnce(t *testing.T) {
	t.Helper()
	if n := w.atOnce(); n != 1 {
		t.Errorf("%d reconciles of one object at once", n)
	}
}

// wantServed fails unless the reconciles that hung have held up all others where there
// is one worker, and none where there are several.
func (c *customers) wantServed(t *testing.T, workers int, hung ...attempt) {
	t.Helper()
	served := map[string]int{}
	for _, w := range c.all() {
		for _, a := range hung {
			if w.edited.After(a.began) && w.served.After(a.began) && w.served.Before(a.ended) {
				served[w.of]++
			}
		}
	}
	want := 0
	if workers > 1 {
		want = customersAtOnce
	}
	if len(served) != want {
		t.Errorf("%d workers, of which one hung: meanwhile there were reconciles of others %v, want of %d others", workers, served, want)
	}
}
