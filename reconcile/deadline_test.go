// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var (
	_ ctrlreconcile.Reconciler              = (*Deadline[ctrlreconcile.Request])(nil)
	_ ctrlreconcile.TypedReconciler[string] = (*Deadline[string])(nil)
	_ healthz.Checker                       = (*Deadline[string])(nil).Check
	_ prometheus.Collector                  = (*Deadline[string])(nil)
	_ prometheus.Collector                  = (*Deadlines)(nil)
	_ manager.LeaderElectionRunnable        = (*Deadlines)(nil)
	_ manager.Runnable                      = (*Deadlines)(nil)
	_ Manager                               = manager.Manager(nil)
	_ error                                 = (*DeadlineError)(nil)
)

type reconcileFunc = ctrlreconcile.TypedFunc[string]

// timed is a reconciler with a deadline, and its log.
type timed struct {
	*Deadline[string]
	journal journal
}

// newTimed returns inner with deadlines of 10, 2 and 3 s.
func newTimed(t *testing.T, inner reconcileFunc, opts DeadlineOptions) *timed {
	t.Helper()
	d := &timed{}
	opts.Name = "widgets"
	opts.Timeout, opts.Grace, opts.FailAfter = 10*time.Second, 2*time.Second, 3*time.Second
	opts.Logger = d.journal.logger()
	var err error
	if d.Deadline, err = WithDeadline(inner, opts); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDeadlinePassesThrough(t *testing.T) {
	want, wantErr := ctrlreconcile.Result{RequeueAfter: time.Hour, Priority: new(7)}, errors.New("mine")
	d := newTimed(t, func(ctx context.Context, req string) (ctrlreconcile.Result, error) {
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 10*time.Second || req != "a" {
			t.Errorf("request %q, deadline %v, %v", req, deadline, ok)
		}
		return want, wantErr
	}, DeadlineOptions{})
	res, err := d.Reconcile(t.Context(), "a")
	if diff := cmp.Diff(want, res); diff != "" || err != wantErr { //nolint:errorlint // the very same
		t.Errorf("error %v, result (-want +got):\n%s", err, diff)
	}
	d.journal.wantLines(t)
}

// What a reconcile returns after its deadline: always an error, so that it is tried
// again.
func TestDeadlineOverrun(t *testing.T) {
	mine := errors.New("mine")
	tests := []struct {
		name string
		res  ctrlreconcile.Result
		err  error
		want string
	}{
		{"what the context says", ctrlreconcile.Result{}, context.DeadlineExceeded, "reconcile: widgets: a is not done within 10s (returned after 11s): context deadline exceeded"},
		{"its own error", ctrlreconcile.Result{}, mine, "reconcile: widgets: a is not done within 10s (returned after 11s): mine"},
		{"no error, as if it were done", ctrlreconcile.Result{RequeueAfter: time.Hour, Priority: new(7)}, nil, "reconcile: widgets: a is not done within 10s (returned after 11s)"},
		{"for good", ctrlreconcile.Result{}, ctrlreconcile.TerminalError(mine), "reconcile: widgets: a is not done within 10s (returned after 11s): terminal error: mine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newTimed(t, func(ctx context.Context, _ string) (ctrlreconcile.Result, error) {
					began := time.Now()
					<-ctx.Done()
					if took := time.Since(began); took != 10*time.Second {
						t.Errorf("the context ended after %v, want 10s", took)
					}
					wantEnd(ctx, t, "context", context.DeadlineExceeded, ErrDeadline)
					if cause := context.Cause(ctx); cause.Error() != "reconcile: widgets: a is not done within 10s" {
						t.Errorf("cause %q", cause)
					}
					<-time.After(time.Second)
					return tt.res, tt.err
				}, DeadlineOptions{})
				res, err := d.Reconcile(t.Context(), "a")
				if diff := cmp.Diff(ctrlreconcile.Result{Priority: tt.res.Priority}, res); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				var overrun *DeadlineError
				if !errors.As(err, &overrun) || !errors.Is(err, ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("error %v, want a *DeadlineError", err)
				}
				want := &DeadlineError{Controller: "widgets", Request: "a", Limit: 10 * time.Second, Took: 11 * time.Second, Err: tt.err}
				if *overrun != *want || err.Error() != tt.want {
					t.Errorf("error %q, %+v; want %q, %+v", err, overrun, tt.want, want)
				}
				if terminal := ctrlreconcile.TerminalError(nil); errors.Is(err, terminal) != errors.Is(tt.err, terminal) {
					t.Error("whether it is tried again has changed")
				}
				synctest.Wait()
				d.journal.wantLines(t, `"msg"="Reconcile has overrun its deadline: this is where it was then. Others within 10m are not told" "controller"="widgets" "request"="a" "reconcileID"="" "age"="10s" "limit"="10s" "stack"="goroutine`)
				if left := d.InFlight(); len(left) > 0 {
					t.Errorf("%v is still there", left)
				}
			})
		})
	}
}

// One that returns at the very last moment has kept its deadline.
func TestDeadlineKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) {
			<-time.After(10*time.Second - 1)
			return ctrlreconcile.Result{}, nil
		}, DeadlineOptions{})
		for range 3 {
			if _, err := d.Reconcile(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		}
	})
}

// The parent's earlier deadline counts, as that of ReconciliationTimeout.
func TestDeadlineOfParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTimed(t, func(ctx context.Context, _ string) (ctrlreconcile.Result, error) {
			<-ctx.Done()
			if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			<-time.After(2*time.Second + 1)
			return ctrlreconcile.Result{}, nil
		}, DeadlineOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := d.Reconcile(ctx, "a"); !errors.Is(err, ErrDeadline) || !strings.Contains(err.Error(), "within 4s") {
			t.Errorf("error %v, want it to be of the 4s", err)
		}
		if took := time.Since(began); took != 6*time.Second+1 {
			t.Errorf("took %v", took)
		}
		d.journal.wantLines(t, "has overrun", "is wedged", "has returned")
	})
}

// A context that outlives its reconcile has ended, as one of the standard library has.
func TestDeadlineEndsContext(t *testing.T) {
	for _, asked := range []bool{false, true} {
		var kept context.Context
		d := newTimed(t, func(ctx context.Context, _ string) (ctrlreconcile.Result, error) {
			kept = ctx //nolint:fatcontext // on purpose
			if asked {
				ctx.Done()
			}
			return ctrlreconcile.Result{}, nil
		}, DeadlineOptions{})
		if _, err := d.Reconcile(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		wantEnd(kept, t, "kept", context.Canceled, context.Canceled)
	}
}

// Whichever of two timers is first, the parent's deadline is one.
func TestDeadlineOfParentIsFirst(t *testing.T) {
	for range 100 {
		d, err := WithDeadline(reconcileFunc(func(ctx context.Context, _ string) (ctrlreconcile.Result, error) {
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, errCause) {
				t.Errorf("cause %v, want the parent's", cause)
			}
			return ctrlreconcile.Result{}, nil
		}), DeadlineOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errCause)
		if _, err := d.Reconcile(ctx, "a"); !errors.Is(err, ErrDeadline) {
			t.Fatalf("error %v, want it not to count as done", err)
		}
		cancel()
		if got := d.watch.counts.overruns; got != 1 {
			t.Fatalf("%d overruns counted, want 1", got)
		}
	}
}

// A shutdown is none of a deadline's business.
func TestDeadlineShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTimed(t, func(ctx context.Context, _ string) (ctrlreconcile.Result, error) {
			<-ctx.Done()
			return ctrlreconcile.Result{}, ctx.Err()
		}, DeadlineOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := d.Reconcile(ctx, "a"); err != context.Canceled { //nolint:errorlint // the very same
			t.Errorf("error %v, want the context's", err)
		}
	})
}

func TestDeadlinePanics(t *testing.T) {
	d := newTimed(t, func(_ context.Context, req string) (ctrlreconcile.Result, error) {
		if req == "goexit" {
			runtime.Goexit()
		}
		panic("mine")
	}, DeadlineOptions{})
	for range 2 {
		func() {
			defer func() {
				if got := recover(); got != "mine" {
					t.Errorf("recovered %v, want the reconciler's panic", got)
				}
			}()
			_, _ = d.Reconcile(t.Context(), "a")
		}()
	}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = d.Reconcile(t.Context(), "goexit") })
	wg.Wait()
	if left := d.InFlight(); len(left) > 0 {
		t.Errorf("%v is still there", left)
	}
}

// A request that is being reconciled is not reconciled a second time, others are.
func TestDeadlineNeverTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		d := newTimed(t, func(_ context.Context, req string) (ctrlreconcile.Result, error) {
			if req == "a" {
				<-release
			}
			return ctrlreconcile.Result{RequeueAfter: time.Hour}, nil
		}, DeadlineOptions{})
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = d.Reconcile(t.Context(), "a") })
		synctest.Wait()
		for range 50 {
			res, err := d.Reconcile(t.Context(), "a")
			if err != nil || res.RequeueAfter < 4*time.Second || res.RequeueAfter > 6*time.Second {
				t.Errorf("result %+v, error %v; want a requeue after 5s, give or take a fifth", res, err)
			}
		}
		if res, err := d.Reconcile(t.Context(), "b"); err != nil || res.RequeueAfter != time.Hour {
			t.Errorf("another request: result %+v, error %v", res, err)
		}
		close(release)
		wg.Wait()
		if res, _ := d.Reconcile(t.Context(), "a"); res.RequeueAfter != time.Hour {
			t.Errorf("after it has returned: result %+v", res)
		}
	})
}

// Many at once, of different lengths: each has its own deadline.
func TestDeadlinesOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		ended := map[string]time.Duration{}
		d := newTimed(t, func(ctx context.Context, req string) (ctrlreconcile.Result, error) {
			began := time.Now()
			<-ctx.Done()
			mu.Lock()
			defer mu.Unlock()
			ended[req] = time.Since(began)
			return ctrlreconcile.Result{}, ctx.Err()
		}, DeadlineOptions{})
		var wg sync.WaitGroup
		want := map[string]time.Duration{}
		for i := range 40 {
			req := fmt.Sprint(i)
			limit := 10 * time.Second
			if i%4 == 3 {
				limit = time.Second
			}
			want[req] = limit
			wg.Go(func() {
				<-time.After(time.Duration(i) * 700 * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				_, _ = d.Reconcile(ctx, req)
			})
		}
		wg.Wait()
		if diff := cmp.Diff(want, ended); diff != "" {
			t.Errorf("ended after (-want +got):\n%s", diff)
		}
	})
}

// The deadline follows a fake clock.
func TestDeadlineFakeClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		d := newTimed(t, func(ctx context.Context, _ string) (ctrlreconcile.Result, error) {
			<-ctx.Done()
			return ctrlreconcile.Result{}, ctx.Err()
		}, DeadlineOptions{Clock: clock})
		var err error
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			_, err = d.Reconcile(t.Context(), "a")
		}()
		synctest.Wait()
		clock.Step(10*time.Second - 1)
		synctest.Wait()
		select {
		case <-returned:
			t.Fatal("it has ended too early")
		default:
		}
		clock.Step(1)
		<-returned
		if !errors.Is(err, ErrDeadline) {
			t.Errorf("error %v", err)
		}
	})
}

func TestDeadlineAllocatesOnce(t *testing.T) {
	d := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return ctrlreconcile.Result{}, nil }, DeadlineOptions{})
	ctx := t.Context()
	if got := testing.AllocsPerRun(100, func() { _, _ = d.Reconcile(ctx, "a") }); got > 1 {
		t.Errorf("%v allocations, want one: the context", got)
	}
}

// What runs, runs in the goroutine of who asked.
func TestDeadlineStartsNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 200
		d := newTimed(t, func(ctx context.Context, _ string) (ctrlreconcile.Result, error) {
			<-ctx.Done()
			return ctrlreconcile.Result{}, nil
		}, DeadlineOptions{})
		before := runtime.NumGoroutine()
		var wg sync.WaitGroup
		for i := range many {
			wg.Go(func() { _, _ = d.Reconcile(t.Context(), fmt.Sprint(i)) })
		}
		synctest.Wait()
		if more := runtime.NumGoroutine() - before - many; more > 10 { // the runtime's and other tests'
			t.Errorf("%d goroutines for %d reconciles, beside those that asked", more, many)
		}
		wg.Wait()
	})
}

// What looks at errors of requests sees a time-out, as it did without a deadline, and the
// message does not quote itself.
func TestDeadlineErrorOfRequests(t *testing.T) {
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hangs.Close()
	client := hangs.Client()
	defer client.CloseIdleConnections()
	d, err := WithDeadline(reconcileFunc(func(ctx context.Context, _ string) (ctrlreconcile.Result, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, hangs.URL, nil)
		if err != nil {
			return ctrlreconcile.Result{}, err
		}
		resp, err := client.Do(req)
		if err != nil {
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want a time-out", err)
			}
			return ctrlreconcile.Result{}, err
		}
		return ctrlreconcile.Result{}, resp.Body.Close()
	}), DeadlineOptions{Name: "widgets", Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Reconcile(t.Context(), "a")
	if n := strings.Count(text(err), "is not done within"); n != 1 || !strings.HasSuffix(text(err), "context deadline exceeded") {
		t.Errorf("error %q, want it said once", text(err))
	}
}

func TestDeadlineOptions(t *testing.T) {
	nop := reconcileFunc(func(context.Context, string) (ctrlreconcile.Result, error) { return ctrlreconcile.Result{}, nil })
	tests := []struct {
		name string
		opts DeadlineOptions
		want string
	}{
		{"zero", DeadlineOptions{}, ""},
		{"shortest", DeadlineOptions{Timeout: time.Second, Grace: time.Second, FailAfter: time.Second}, ""},
		{"longest", DeadlineOptions{Timeout: 24 * time.Hour, Grace: 24 * time.Hour, FailAfter: 24 * time.Hour}, ""},
		{"short timeout", DeadlineOptions{Timeout: time.Second - 1}, "reconcile: DeadlineOptions.Timeout is 999.999999ms, but must be at least 1s and at most 24h0m0s"},
		{"long grace", DeadlineOptions{Grace: 24*time.Hour + 1}, "reconcile: DeadlineOptions.Grace is 24h0m0.000000001s, but must be at least 1s and at most 24h0m0s"},
		{"negative", DeadlineOptions{FailAfter: -1}, "reconcile: DeadlineOptions.FailAfter is -1ns, but must be at least 1s and at most 24h0m0s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := WithDeadline(nop, tt.opts)
			if got := text(err); got != tt.want {
				t.Errorf("error %q, want %q", got, tt.want)
			}
			if (d == nil) == (err == nil) {
				t.Errorf("%v with error %v", d, err)
			}
		})
	}
	var none ctrlreconcile.TypedReconciler[string]
	if _, err := WithDeadline(none, DeadlineOptions{}); err == nil {
		t.Error("no error without a reconciler")
	}
	var budget *RestartBudget
	if _, err := WithDeadline(nop, DeadlineOptions{Budget: budget}); text(err) != "reconcile: DeadlineOptions.Budget is a nil *reconcile.RestartBudget, but must be one, or nothing" {
		t.Errorf("error %v with a nil budget", err)
	}
}
