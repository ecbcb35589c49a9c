// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

const (
	pollEvery = 5 * time.Millisecond
	pollFor   = 10 * time.Second
)

// Eventually waits until cond holds, asking every 5 ms, and fails the test at once if it does not within 10 s. Inside a
// testing/synctest bubble these are the bubble's seconds: waiting moves its time, and every goroutine has come to rest
// before cond is asked again.
func Eventually(t testing.TB, cond func() bool, format string, args ...any) {
	t.Helper()
	for waited := time.Duration(0); !cond(); waited += pollEvery {
		if waited >= pollFor {
			t.Fatalf("not within %v: "+format, append([]any{pollFor}, args...)...)
		}
		<-time.After(pollEvery)
	}
}

// WaitForSync waits like Eventually until all the given functions hold, such as the HasSynced of informers.
func WaitForSync(t testing.TB, synced ...func() bool) {
	t.Helper()
	for i, hasSynced := range synced {
		Eventually(t, hasSynced, "informer %d of %d has not synced", i+1, len(synced))
	}
}

// StepUntil steps a fake clock, as Step does, until cond holds, and returns by how much. It fails the test at once if
// cond does not hold after limit of the clock's time.
func StepUntil(
	t testing.TB, c *clocktesting.FakeClock, step, limit time.Duration, cond func() bool, format string, args ...any,
) time.Duration {
	t.Helper()
	if step <= 0 {
		t.Fatalf("freshtest: StepUntil: step is %v, but must be positive", step)
	}
	begin := c.Now()
	for !cond() {
		if c.Since(begin) >= limit {
			t.Fatalf("not within %v of the clock: "+format, append([]any{limit}, args...)...)
		}
		Step(c, step)
	}
	return c.Since(begin)
}
