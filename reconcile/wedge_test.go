// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// deaf blocks until it is released, whatever its context says. Its name is looked for in
// stacks.
func deaf(release <-chan struct{}) (ctrlreconcile.Result, error) {
	<-release
	return ctrlreconcile.Result{}, nil
}

// A reconcile that ignores its context: overrun, wedged, failing, each once and in time.
func TestWedged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		d := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(release) }, DeadlineOptions{})
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := d.Reconcile(t.Context(), "a"); !errors.Is(err, ErrDeadline) || !strings.Contains(err.Error(), "returned after 1m0s") {
				t.Errorf("error %v, want a *DeadlineError, though it has ended well", err)
			}
		})
		at := func(age time.Duration, stage Stage) {
			t.Helper()
			<-time.After(age - d.ageOf(t, "a"))
			synctest.Wait()
			if got := d.InFlight()[0].Stage; got != stage {
				t.Errorf("after %v %v, want %v", age, got, stage)
			}
			if err := d.Check(nil); (err != nil) != (stage == Failing) || err != nil && !errors.Is(err, ErrWedged) {
				t.Errorf("after %v Check says %v", age, err)
			}
		}
		synctest.Wait()
		at(10*time.Second-1, Running)
		at(10*time.Second, Overrun)
		at(12*time.Second-1, Overrun)
		d.journal.wantLines(t, "has overrun")
		at(12*time.Second, Wedged)
		d.journal.wantLines(t, `"msg"="Reconcile is wedged: its context has ended, and it does not return. Its worker is lost until it does" "error"="reconcile: wedged" "controller"="widgets" "request"="a" "reconcileID"="" "age"="12s" "limit"="10s" "stack"=`)
		at(15*time.Second-1, Wedged)
		at(15*time.Second, Failing)
		d.journal.wantLines(t, `"msg"="A restart is asked for" "error"="reconcile: wedged" "controller"="widgets" "reason"="1 in widgets"`)
		if got, want := text(d.Check(nil)), "reconcile: wedged: 1 in widgets"; got != want {
			t.Errorf("Check says %q, want %q", got, want)
		}
		at(time.Minute, Failing)
		close(release)
		wg.Wait()
		if err := d.Check(nil); err != nil {
			t.Errorf("it has returned, and Check says %v", err)
		}
		d.journal.wantLines(t, `"msg"="Wedged reconcile has returned" "controller"="widgets" "request"="a" "took"="1m0s"`)
	})
}

// ageOf is for how long a request has been reconciled.
func (d *timed) ageOf(t *testing.T, request string) time.Duration {
	t.Helper()
	all := d.InFlight()
	i := slices.IndexFunc(all, func(r InFlight) bool { return r.Request == request })
	if i < 0 {
		t.Fatalf("%q does not run, only %v", request, all)
	}
	return all[i].Age
}

// One whose deadline is earlier than that of those before it is not found later for that.
func TestWedgedBeforeOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		d := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(release) }, DeadlineOptions{})
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = d.Reconcile(t.Context(), "long") })
		synctest.Wait()
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _ = d.Reconcile(ctx, "short")
		})
		<-time.After(3 * time.Second)
		synctest.Wait()
		d.journal.wantLines(t, "has overrun", `"request"="short" "reconcileID"="" "age"="3s" "limit"="1s"`)
		close(release)
		wg.Wait()
	})
}

// Of many goroutines the report shows the one.
func TestWedgedStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, fine := make(chan struct{}), make(chan struct{})
		d := newTimed(t, func(ctx context.Context, req string) (ctrlreconcile.Result, error) {
			if req == "deaf" {
				return deaf(release)
			}
			<-fine
			return ctrlreconcile.Result{}, nil
		}, DeadlineOptions{NeverFail: true})
		var wg sync.WaitGroup
		for _, req := range []string{"a", "deaf", "b"} {
			wg.Go(func() { _, _ = d.Reconcile(t.Context(), req) })
		}
		<-time.After(12 * time.Second)
		synctest.Wait()
		lines := d.journal.take()[1:] // the first is of a deadline
		if len(lines) != 3 {
			t.Fatalf("%d reports, want 3: %q", len(lines), lines)
		}
		for _, line := range lines {
			is := strings.Contains(line, `"request"="deaf"`)
			if shows := strings.Contains(line, "reconcile.deaf("); shows != is {
				t.Errorf("shows where deaf blocks: %v, want %v: %s", shows, is, line)
			}
			if strings.Contains(line, "not found") || !strings.Contains(line, "TestWedgedStack") || strings.Contains(line, ").Reconcile(") {
				t.Errorf("want the reconciler's frames, and only those: %s", line)
			}
		}
		<-time.After(time.Hour)
		if err := d.Check(nil); err != nil {
			t.Errorf("NeverFail is set, and Check says %v", err)
		}
		close(release)
		close(fine)
		wg.Wait()
		d.journal.wantLines(t, "has returned", "has returned", "has returned")
	})
}

// Every stage follows a fake clock.
func TestWedgedFakeClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		clock := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		d := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(release) }, DeadlineOptions{Clock: clock})
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = d.Reconcile(t.Context(), "a") })
		synctest.Wait()
		for _, s := range []struct {
			step time.Duration
			want Stage
		}{
			{10*time.Second - 1, Running}, {1, Overrun}, {time.Second, Overrun}, {time.Second - 1, Overrun}, {1, Wedged},
			{time.Second, Wedged}, {time.Second, Wedged}, {time.Second - 1, Wedged}, {1, Failing},
		} {
			clock.Step(s.step)
			synctest.Wait()
			if got := d.InFlight()[0].Stage; got != s.want {
				t.Errorf("after another %v %v, want %v", s.step, got, s.want)
			}
		}
		close(release)
		wg.Wait()
		if clock.HasWaiters() {
			t.Error("a timer is left, though nothing runs")
		}
	})
}

// The time in which a process was paused counts for nothing once a context has ended,
// whenever it was paused. What is given are the times at which the process runs.
func TestWedgedPaused(t *testing.T) {
	for _, tt := range []struct {
		steps []time.Duration
		want  Stage
	}{
		{[]time.Duration{time.Hour}, Overrun},
		{[]time.Duration{time.Hour, time.Hour}, Overrun},
		{[]time.Duration{10 * time.Second, 1500 * time.Millisecond}, Overrun}, // merely late
		{[]time.Duration{10 * time.Second, time.Second, time.Second}, Wedged}, // not paused
		{[]time.Duration{10 * time.Second, time.Second, time.Second, time.Hour, time.Hour}, Wedged},
		{[]time.Duration{10 * time.Second, time.Second, time.Second, 2900 * time.Millisecond, time.Second}, Wedged},
	} {
		t.Run(fmt.Sprint(tt.steps), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
				release := make(chan struct{})
				d := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(release) }, DeadlineOptions{Clock: clock})
				var wg sync.WaitGroup
				wg.Go(func() { _, _ = d.Reconcile(t.Context(), "a") })
				synctest.Wait()
				for _, step := range tt.steps {
					clock.Step(step)
					synctest.Wait()
				}
				if got := d.InFlight()[0].Stage; got != tt.want {
					t.Errorf("%v, want %v", got, tt.want)
				}
				close(release)
				wg.Wait()
			})
		})
	}
}

func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		d := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(release) }, DeadlineOptions{})
		var wg sync.WaitGroup
		for _, req := range []string{"c", "a", "b"} {
			wg.Go(func() { _, _ = d.Reconcile(t.Context(), req) })
			<-time.After(time.Second)
		}
		want := []InFlight{{"widgets", "c", 3 * time.Second, Running}, {"widgets", "a", 2 * time.Second, Running}, {"widgets", "b", time.Second, Running}}
		if diff := cmp.Diff(want, d.InFlight()); diff != "" {
			t.Errorf("running (-want +got):\n%s", diff)
		}
		close(release)
		wg.Wait()
	})
}

// A call under a context that has ended long ago is no sign of a pause: others are found to
// be wedged all the same.
func TestWedgedBesideExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		d := newTimed(t, func(_ context.Context, req string) (ctrlreconcile.Result, error) {
			if req == "a" {
				return deaf(release)
			}
			return ctrlreconcile.Result{}, nil
		}, DeadlineOptions{})
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = d.Reconcile(t.Context(), "a") })
		expired, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		for range 20 {
			<-time.After(time.Second)
			_, _ = d.Reconcile(expired, "b")
		}
		if got := d.InFlight()[0].Stage; got != Failing {
			t.Errorf("%v, want Failing", got)
		}
		close(release)
		wg.Wait()
	})
}

// The stack of a reconcile that overruns its deadline is told, but not of each: they may
// be many, and all have the same cause.
func TestOverrunIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTimed(t, func(ctx context.Context, _ string) (ctrlreconcile.Result, error) {
			<-ctx.Done()
			return ctrlreconcile.Result{}, nil
		}, DeadlineOptions{})
		began := time.Now()
		for time.Since(began) < 10*time.Minute+10*time.Second {
			_, _ = d.Reconcile(t.Context(), "a")
		}
		synctest.Wait()
		d.journal.wantLines(t, "TestOverrunIsTold", "TestOverrunIsTold")
	})
}
