// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// holdOn hangs whatever its context says. Its name is what the report has to tell.
//
//go:noinline
func holdOn(release <-chan struct{}) { <-release }

// A reconcile that ignores its context is lost until it returns by itself, and its
// worker with it: it is reported, and in the end a restart is asked for. What happens to
// the object meanwhile is reconciled afterwards, and not before.
func TestIgnoresItsContext(t *testing.T) {
	realplane.Test(t)
	for name, n := range map[string]int{"one worker": 1, "several workers": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedPlane.Get(t)
			o := newOperator(t, p, operatorOptions{hasty: true})
			release := make(chan struct{})
			w := o.add(t, "ignores", workers(n), func(context.Context, *corev1.ConfigMap) error {
				holdOn(release)
				return nil
			})
			o.start(t)
			let := onceClosed(t, release)
			c := o.serve(t, p, w)
			await(t, patience, "customers are served", func() bool { return len(c.all()) >= customersAtOnce })

			edit(t.Context(), t, p, o.ns, stuck, "first")
			await(t, patience, "wedged", func() bool { return len(o.journal.find(saidWedged, w.controller)) > 0 })
			o.wantReport(t, w)
			began := w.tried(stuck)[0].began
			o.wantCounts(t, w.controller, map[string]float64{"wedged": 1, "wedges_total": 1, "deadline_overruns_total": 1, "deadline_seconds": timeout.Seconds()})
			if age := o.own(t, "oldest_running_seconds", w.controller); age < (timeout + grace).Seconds() {
				t.Errorf("the oldest reconcile runs for %v s", age)
			}
			for _, content := range []string{"second", "third", "last"} {
				edit(t.Context(), t, p, o.ns, stuck, content)
			}
			failedAfter := o.awaitFailing(t, p, w, began)
			if failed := time.Now(); n > 1 { // then, too
				await(t, patience, "others are served", func() bool { return c.servedSince(failed) })
			}
			if tries := w.tried(stuck); len(tries) != 1 {
				t.Errorf("%d reconciles of an object whose first has not returned", len(tries))
			}
			let()
			await(t, patience, "the last edit is reconciled", func() bool { return w.sees(stuck) == "last" && len(o.journal.find(saidReturned, w.controller)) > 0 })
			await(t, patience, "the check passes", func() bool { return o.deadlines.Check(nil) == nil })
			c.stop()

			hung := w.tried(stuck)[0]
			c.wantServed(t, n, hung)
			w.wantOneAtOnce(t)
			o.wantIdle(t)
			o.journal.wantOverruns(t, o.ns, w.controller, 1, timeout)
			o.wantCounts(t, w.controller, map[string]float64{
				"wedged": 0, "wedges_total": 1, "deadline_overruns_total": 1, "held_twice_total": 0,
			})
			o.wantCounts(t, "", map[string]float64{"restarts_asked_total": 1, "restart_budget_exhausted": 0})
			if lines := len(o.journal.find(saidWedged, "")); lines != 1 {
				t.Errorf("%d reports of one wedged reconcile", lines)
			}
			longest, served := c.longest(began)
			figures(t, map[string]any{
				"wedgedAfter": o.journal.find(saidWedged, "")[0].at.Sub(began), "checkFailsAfter": failedAfter, "heldFor": hung.took(),
				"longestWaitOfOthers": longest, "othersServed": served,
			})
		})
	}
}

// onceClosed returns what closes ch, at the end of the test at the latest, and before
// the manager is waited for.
func onceClosed(t *testing.T, ch chan struct{}) (closes func()) {
	t.Helper()
	closes = sync.OnceFunc(func() { close(ch) })
	t.Cleanup(closes)
	return closes
}

// wantReport fails unless the line about a wedged reconcile tells what somebody needs
// who has nothing else.
func (o *operator) wantReport(t *testing.T, w *worker) {
	t.Helper()
	l := o.journal.find(saidWedged, w.controller)[0]
	age, err := time.ParseDuration(l.values["age"])
	if err != nil || age < timeout+grace {
		t.Errorf("the age is %q, want %v or more", l.values["age"], timeout+grace)
	}
	if l.values["request"] != o.ns+"/"+stuck || l.values["limit"] != timeout.String() {
		t.Errorf("the report is of %q, limit %q", l.values["request"], l.values["limit"])
	}
	stack := l.values["stack"]
	for _, part := range []string{"reconciles.holdOn", "chan receive", "(*worker).Reconcile"} {
		if !strings.Contains(stack, part) {
			t.Errorf("no %s in the stack:\n%s", part, stack)
		}
	}
	if strings.Contains(stack, "controller-runtime") {
		t.Errorf("the stack is not the reconciler's alone:\n%s", stack)
	}
}

// awaitFailing waits until the check fails, and returns how long after the reconcile had
// begun. The restart has been noted by then.
func (o *operator) awaitFailing(t *testing.T, p *realplane.Plane, w *worker, began time.Time) time.Duration {
	t.Helper()
	var err error
	await(t, patience, "the check fails", func() bool { err = o.deadlines.Check(nil); return err != nil })
	after := time.Since(began)
	for _, r := range o.deadlines.InFlight() {
		if r.Request == o.ns+"/"+stuck && (r.Stage != reconcile.Failing || r.Age < timeout+grace+failAfter) {
			t.Errorf("the check fails with %+v, want an age of %v", r, timeout+grace+failAfter)
		}
	}
	if want := "reconcile: wedged: 1 in " + w.controller; !errors.Is(err, reconcile.ErrWedged) || err.Error() != want {
		t.Errorf("the check fails with %q, want %q", err, want)
	}
	if got := noted(sharedLease(t, p, o.ns), wedgeAnnotation); len(got) != 1 {
		t.Errorf("the Lease says %q, want one restart", got)
	}
	if asked := o.own(t, "restarts_asked_total", ""); asked != 1 {
		t.Errorf("%v restarts were asked for, want 1", asked)
	}
	return after
}

// wedgeAnnotation is where the budget is kept.
const wedgeAnnotation = "freshwatch.github.io/wedge-restarts"
