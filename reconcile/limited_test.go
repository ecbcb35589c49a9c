// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

type valueKey struct{}

var (
	errCause = errors.New("too late")
	errOther = errors.New("something else")
)

// newLimited returns a context that is not materialised, and its parent's end.
func newLimited(t *testing.T) (*limited, context.CancelCauseFunc) {
	t.Helper()
	parent, cancel := context.WithCancelCause(context.WithValue(t.Context(), valueKey{}, "parent's"))
	t.Cleanup(func() { cancel(nil) })
	return &limited{parent: parent, began: time.Now(), limit: time.Hour}, cancel
}

// A limited context ends like one of the standard library, whoever has asked for its end
// before, and so do those that are derived from it.
func TestLimitedEnds(t *testing.T) {
	ends := []struct {
		name       string
		end        func(l *limited, cancel context.CancelCauseFunc)
		err, cause error
	}{
		{"not", func(*limited, context.CancelCauseFunc) {}, nil, nil},
		{"expired", func(l *limited, _ context.CancelCauseFunc) { l.expire(errCause) }, context.DeadlineExceeded, errCause},
		{"parent", func(_ *limited, cancel context.CancelCauseFunc) { cancel(errOther) }, context.Canceled, errOther},
		{"finished", func(l *limited, _ context.CancelCauseFunc) { l.finish() }, context.Canceled, context.Canceled},
		{"expired, then parent", func(l *limited, cancel context.CancelCauseFunc) { l.expire(errCause); cancel(errOther) }, context.DeadlineExceeded, errCause},
		{"parent, then expired", func(l *limited, cancel context.CancelCauseFunc) {
			cancel(errOther)
			synctest.Wait()
			l.expire(errCause)
		}, context.Canceled, errOther},
		{"expired, then finished", func(l *limited, _ context.CancelCauseFunc) { l.expire(errCause); l.finish() }, context.DeadlineExceeded, errCause},
		{"finished, then expired", func(l *limited, _ context.CancelCauseFunc) { l.finish(); l.expire(errCause) }, context.Canceled, context.Canceled},
	}
	for _, asked := range []bool{false, true} {
		for _, tt := range ends {
			name := tt.name + ", unasked"
			if asked {
				name = tt.name + ", asked"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l, cancel := newLimited(t)
					if asked {
						child, cancelChild := context.WithTimeout(context.WithValue(l, valueKey{}, "child's"), 2*time.Hour)
						defer cancelChild()
						defer func() { wantEnd(child, t, "child", tt.err, tt.cause) }()
					}
					tt.end(l, cancel)
					synctest.Wait()
					wantEnd(l, t, "it", tt.err, tt.cause)
					derived, cancelDerived := context.WithCancel(l)
					defer cancelDerived()
					wantEnd(derived, t, "derived later", tt.err, tt.cause)
					if got := l.Value(valueKey{}); got != "parent's" {
						t.Errorf("value %v, want the parent's", got)
					}
				})
			})
		}
	}
}

func wantEnd(ctx context.Context, t *testing.T, what string, wantErr, wantCause error) {
	t.Helper()
	if err, cause := ctx.Err(), context.Cause(ctx); !errors.Is(err, wantErr) || !errors.Is(cause, wantCause) {
		t.Errorf("%s: error %v, cause %v; want %v, %v", what, err, cause, wantErr, wantCause)
	}
	select {
	case <-ctx.Done():
		if wantErr == nil {
			t.Errorf("%s has ended", what)
		}
	default:
		if wantErr != nil {
			t.Errorf("%s: Done is open, though there is an error", what)
		}
	}
}

func TestLimitedDeadline(t *testing.T) {
	l, _ := newLimited(t)
	if d, ok := l.Deadline(); !ok || !d.Equal(l.began.Add(l.limit)) {
		t.Errorf("deadline %v, %v; want its own", d, ok)
	}
	earlier := l.began.Add(time.Minute)
	var cancel context.CancelFunc
	l.parent, cancel = context.WithDeadline(l.parent, earlier)
	defer cancel()
	if d, ok := l.Deadline(); !ok || !d.Equal(earlier) {
		t.Errorf("deadline %v, %v; want the parent's, which is earlier", d, ok)
	}
	child, cancelChild := context.WithTimeout(l, 2*time.Hour)
	defer cancelChild()
	if d, ok := child.Deadline(); !ok || !d.Equal(earlier) {
		t.Errorf("child's deadline %v, %v; want %v", d, ok, earlier)
	}
}

// A parent that never ends is none's concern.
func TestLimitedWithoutParent(t *testing.T) {
	l := &limited{parent: context.Background(), limit: time.Hour}
	wantEnd(l, t, "it", nil, nil)
	l.expire(errCause)
	wantEnd(l, t, "it", context.DeadlineExceeded, errCause)
}

// Contexts that are derived from it, with values in between too, need no goroutine each:
// a request of client-go makes several.
func TestLimitedCostsNoGoroutines(t *testing.T) {
	l, _ := newLimited(t)
	l.Done()
	before := runtime.NumGoroutine()
	for range 100 {
		child, cancel := context.WithTimeout(context.WithValue(l, valueKey{}, 1), time.Hour)
		t.Cleanup(cancel)
		_, cancelGrand := context.WithCancel(child)
		t.Cleanup(cancelGrand)
	}
	// Others may end, and the runtime may start one or two; not hundreds.
	if more := runtime.NumGoroutine() - before; more > 10 {
		t.Errorf("%d goroutines for 200 derived contexts, want none", more)
	}
}

func TestLimitedRaces(t *testing.T) {
	for range 200 {
		l, cancel := newLimited(t)
		var wg sync.WaitGroup
		for _, f := range []func(){
			func() { l.expire(errCause) }, func() { l.finish() }, func() { cancel(errOther) },
			func() { <-l.Done() },
			func() {
				for l.Err() == nil {
					runtime.Gosched()
				}
				<-l.Done()
			},
			func() {
				child, cancelChild := context.WithCancel(l)
				defer cancelChild()
				<-child.Done()
			},
		} {
			wg.Go(f)
		}
		wg.Wait()
		if err := l.Err(); err == nil {
			t.Fatal("it has not ended")
		}
	}
}

// A deadline that a fake clock decides is told in real time, since those who ask for it
// compare it with that.
func TestLimitedDeadlineOfFakeClock(t *testing.T) {
	fake := clocktesting.NewFakePassiveClock(time.Date(2001, 1, 2, 3, 4, 5, 0, time.UTC))
	l := &limited{parent: t.Context(), began: fake.Now(), limit: time.Hour, clock: fake}
	fake.SetTime(fake.Now().Add(10 * time.Minute))
	d, _ := l.Deadline()
	if left := time.Until(d); left > 50*time.Minute || left < 40*time.Minute {
		t.Errorf("%v are left, want 50m", left)
	}
}

// What has expired is not remembered by its parent, which is a controller's for as long
// as that runs.
func TestLimitedForgotten(t *testing.T) {
	told := 0
	parent := &counting{Context: t.Context(), done: make(chan struct{}), stopped: &told}
	l := &limited{parent: parent, limit: time.Hour}
	l.Done()
	l.expire(errCause)
	l.finish()
	if told == 0 {
		t.Error("the parent would tell it still")
	}
}

// counting is a context that counts who does not want to be told of its end any more.
type counting struct {
	context.Context
	done    chan struct{}
	stopped *int
}

func (c *counting) Done() <-chan struct{} { return c.done }

func (c *counting) AfterFunc(func()) func() bool {
	return func() bool { *c.stopped++; return true }
}
