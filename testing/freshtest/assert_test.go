// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// failure is a testing.TB that remembers being failed.
type failure struct {
	testing.TB
	message string
}

func (f *failure) Helper() {}

func (f *failure) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failureOf returns how f fails the test that it is given, or nothing if it does not.
func failureOf(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	tb := &failure{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(tb)
	}()
	<-done
	return tb.message
}

func TestEventually(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		later := func() bool { return time.Since(begin) >= 7*time.Second }
		if got := failureOf(t, func(tb testing.TB) { freshtest.Eventually(tb, later, "later") }); got != "" {
			t.Errorf("failed with %q", got)
		}
		if got := time.Since(begin); got != 7*time.Second {
			t.Errorf("it took %v, want 7s", got)
		}
		never := func() bool { return false }
		got := failureOf(t, func(tb testing.TB) { freshtest.Eventually(tb, never, "no %s", "luck") })
		if want := "not within 10s: no luck"; got != want {
			t.Errorf("failed with %q, want %q", got, want)
		}
		got = failureOf(t, func(tb testing.TB) { freshtest.WaitForSync(tb, later, never) })
		if want := "not within 10s: informer 2 of 2 has not synced"; got != want {
			t.Errorf("failed with %q, want %q", got, want)
		}
	})
}

func TestStepUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakeClock(time.Now())
		begin := clock.Now()
		after := func(d time.Duration) func() bool { return func() bool { return clock.Since(begin) >= d } }
		if got := freshtest.StepUntil(t, clock, time.Second, time.Minute, after(5*time.Second), ""); got != 5*time.Second {
			t.Errorf("stepped by %v, want 5s", got)
		}
		got := failureOf(t, func(tb testing.TB) {
			freshtest.StepUntil(tb, clock, time.Second, time.Minute, after(time.Hour), "too early")
		})
		if want := "too early"; got != "not within 1m0s of the clock: "+want {
			t.Errorf("failed with %q, want %q", got, want)
		}
		if got := failureOf(t, func(tb testing.TB) { freshtest.StepUntil(tb, clock, 0, 0, after(0), "") }); got == "" {
			t.Error("a step of nothing is accepted")
		}
	})
}
