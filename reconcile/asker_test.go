// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// budgetFunc is a Budget.
type budgetFunc func(ctx context.Context, at time.Time) (bool, error)

func (f budgetFunc) Ask(ctx context.Context, at time.Time) (bool, error) { return f(ctx, at) }

// wedgedWith runs a reconcile that is wedged until the test releases it, and whose
// restart the budget decides.
func wedgedWith(t *testing.T, budget budgetFunc) (d *timed, release func()) {
	t.Helper()
	free := make(chan struct{})
	d = newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(free) }, DeadlineOptions{Budget: budget})
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = d.Reconcile(t.Context(), "a") })
	<-time.After(15 * time.Second)
	synctest.Wait()
	if lines := d.journal.take(); len(lines) == 0 {
		t.Fatal("it is not wedged")
	}
	return d, sync.OnceFunc(func() { close(free); wg.Wait() })
}

// Check fails once the budget has granted the restart, and not before.
func TestAskerWaitsForBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []error{errors.New("away"), errors.New("still away"), nil}
		var asked []time.Time
		began := time.Now()
		d, release := wedgedWith(t, func(_ context.Context, at time.Time) (bool, error) {
			asked = append(asked, at)
			err := answers[0]
			answers = answers[1:]
			return err == nil, err
		})
		defer release()
		go func() { _, _ = d.Reconcile(t.Context(), "b") }() // wedged before the budget is asked again
		for i := range 2 {
			if err := d.Check(nil); err != nil {
				t.Errorf("after %d answers Check says %v", i+1, err)
			}
			<-time.After(askEvery)
			synctest.Wait()
		}
		if err := d.Check(nil); !errors.Is(err, ErrWedged) {
			t.Errorf("granted, and Check says %v", err)
		}
		at := began.Add(15 * time.Second)
		if diff := cmp.Diff([]time.Time{at, at, at}, asked); diff != "" {
			t.Errorf("asked for the restart of (-want +got):\n%s", diff)
		}
		d.journal.wantLines(t, "is wedged", `"msg"="A restart is asked for"`)
	})
}

func TestAskerSaysWhyNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		answer := errors.New("forbidden")
		free := make(chan struct{})
		d := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(free) }, DeadlineOptions{
			Budget: budgetFunc(func(context.Context, time.Time) (bool, error) {
				mu.Lock()
				defer mu.Unlock()
				return false, answer
			}),
		})
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = d.Reconcile(t.Context(), "a") })
		exhausted := func(want bool) {
			t.Helper()
			if _, got := d.watch.asker.state(); got != want {
				t.Errorf("exhausted %v, want %v", got, want)
			}
		}
		<-time.After(time.Hour) // asked often, and told once
		d.journal.wantLines(t, "has overrun", "is wedged", `"msg"="A restart is not asked for, since it cannot be noted" "error"="reconcile: wedged" "controller"="widgets" "reason"="forbidden"`)
		exhausted(false)
		mu.Lock()
		answer = nil
		mu.Unlock()
		<-time.After(time.Hour)
		d.journal.wantLines(t, `"msg"="No more restarts are asked for: those before have not helped, so look for the cause" "error"="reconcile: wedged" "controller"="widgets" "reason"="1 in widgets"`)
		exhausted(true)
		if err := d.Check(nil); err != nil {
			t.Errorf("nothing was granted, and Check says %v", err)
		}
		close(free)
		wg.Wait()
		exhausted(false)
		<-time.After(time.Hour)
		d.journal.wantLines(t, "has returned")
	})
}

// A reconcile that returns while the budget is asked leaves nothing behind, and the next
// one that is wedged asks anew.
func TestAskerReleasedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Time
		d, release := wedgedWith(t, func(_ context.Context, at time.Time) (bool, error) {
			asked = append(asked, at)
			<-time.After(5 * time.Second)
			return true, nil
		})
		release()
		<-time.After(time.Hour)
		synctest.Wait()
		if err := d.Check(nil); err != nil {
			t.Errorf("nothing is wedged, and Check says %v", err)
		}
		free := make(chan struct{})
		d.inner = reconcileFunc(func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(free) })
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = d.Reconcile(t.Context(), "b") })
		<-time.After(20 * time.Second)
		synctest.Wait()
		if err := d.Check(nil); !errors.Is(err, ErrWedged) {
			t.Errorf("granted, and Check says %v", err)
		}
		if len(asked) != 2 || !asked[1].After(asked[0]) {
			t.Errorf("asked for the restarts of %v, want two", asked)
		}
		close(free)
		wg.Wait()
	})
}

// Several reconciles, in several controllers, are one reason for one restart.
func TestAskerAsksOnceForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		free := make(chan struct{})
		var j journal
		d, err := NewDeadlines(&fakeManager{}, DeadlinesOptions{Default: DeadlineOptions{
			Timeout: 10 * time.Second, Grace: 2 * time.Second, FailAfter: 3 * time.Second, Logger: j.logger(),
			Budget: budgetFunc(func(context.Context, time.Time) (bool, error) { asked++; return true, nil }),
		}})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, name := range []string{"widgets", "gadgets"} {
			r, err := WithDeadlines(reconcileFunc(func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(free) }), d, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, req := range []string{"a", "b"} {
				wg.Go(func() { _, _ = r.Reconcile(t.Context(), req) })
			}
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if got, want := text(d.Check(nil)), "reconcile: wedged: 2 in gadgets, 2 in widgets"; got != want {
			t.Errorf("Check says %q, want %q", got, want)
		}
		if asked != 1 {
			t.Errorf("asked %d times, want once", asked)
		}
		if got := len(d.InFlight()); got != 4 {
			t.Errorf("%d run, want 4", got)
		}
		close(free)
		wg.Wait()
		if err := d.Check(nil); err != nil {
			t.Errorf("all have returned, and Check says %v", err)
		}
	})
}

// One that returns between being found to fail and asking must not be asked for: nobody
// would take it away again.
func TestAskerOfOneThatHasReturned(t *testing.T) {
	a := newAsker(DeadlineOptions{Clock: clock.RealClock{}})
	r := &running{}
	r.finish()
	a.release(r)
	a.ask(r, DeadlineOptions{})
	if len(a.failing) > 0 || a.asking {
		t.Error("it is asked for")
	}
}

// A question that was refused is over: the next one is another.
func TestAskerAsksAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		asked := map[time.Time]int{}
		_, release := wedgedWith(t, func(_ context.Context, at time.Time) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			asked[at]++
			return false, nil
		})
		<-time.After(5*askEvery + time.Second)
		release()
		if len(asked) != 6 {
			t.Errorf("asked %v, want six questions", asked)
		}
	})
}

// A Budget that never answers is told of; one that answers late is heard; none is asked
// twice at a time.
func TestAskerOfBudgetThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		answer := make(chan struct{})
		d, release := wedgedWith(t, func(context.Context, time.Time) (bool, error) {
			asked.Add(1)
			<-answer
			return true, nil
		})
		defer release()
		<-time.After(time.Hour)
		d.journal.wantLines(t, `"msg"="A restart is not asked for, since it cannot be noted" "error"="reconcile: wedged" "controller"="widgets" "reason"="the budget has not answered within 10s"`)
		if err := d.Check(nil); err != nil || asked.Load() != 1 {
			t.Errorf("asked %d times, Check says %v", asked.Load(), err)
		}
		close(answer)
		<-time.After(2 * askEvery)
		if err := d.Check(nil); !errors.Is(err, ErrWedged) {
			t.Errorf("granted, and Check says %v", err)
		}
	})
}

// An answer that comes when nothing is wedged any more changes nothing.
func TestAskerRefusedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, release := wedgedWith(t, func(context.Context, time.Time) (bool, error) {
			<-time.After(5 * time.Second)
			return false, nil
		})
		release()
		<-time.After(time.Hour)
		synctest.Wait()
		if _, exhausted := d.watch.asker.state(); exhausted {
			t.Error("exhausted, though nothing is wedged")
		}
		d.journal.wantLines(t, "has returned")
	})
}

func TestAskerOfBudgetThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		d := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(free) }, DeadlineOptions{
			Budget: budgetFunc(func(context.Context, time.Time) (bool, error) { panic("mine") }),
		})
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = d.Reconcile(t.Context(), "a") })
		<-time.After(time.Hour)
		d.journal.wantLines(t, "has overrun", "is wedged", "the budget has panicked")
		close(free)
		wg.Wait()
	})
}

// A refusal that comes when nothing is wedged any more is not the answer to the next
// question.
func TestAskerStaleAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		d, release := wedgedWith(t, func(context.Context, time.Time) (bool, error) {
			if asked.Add(1) > 1 {
				return true, nil
			}
			<-time.After(40 * time.Second)
			return false, nil
		})
		<-time.After(30 * time.Second)
		release()
		<-time.After(time.Hour)
		d.journal.take()
		free := make(chan struct{})
		d.inner = reconcileFunc(func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(free) })
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = d.Reconcile(t.Context(), "b") })
		<-time.After(16 * time.Second)
		synctest.Wait()
		if err := d.Check(nil); !errors.Is(err, ErrWedged) {
			t.Errorf("granted, and Check says %v: %q", err, d.journal.take())
		}
		close(free)
		wg.Wait()
	})
}
