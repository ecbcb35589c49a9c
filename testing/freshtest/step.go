// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// settleFor bounds how long Step waits for a process that does not come to rest.
const settleFor = time.Second

// Step steps a fake clock by d and waits until what that set in motion has come to rest: until no goroutine of the
// process runs or could, as the scheduler counts them, several times in a row. Since the server is in the process too,
// requests under way have been answered then, and events have been delivered. A process with other work to do, such as
// parallel tests, does not come to rest; after a second Step returns all the same.
//
// Steps should be no longer than the shortest timer of what is tested (500 ms for a freshness.Monitor): a timer that is
// set anew when it fires counts from where the clock then stands, so that a step of an hour is one tick to it.
func Step(c interface{ Step(d time.Duration) }, d time.Duration) {
	c.Step(d)
	const inARow = 5
	samples := []metrics.Sample{
		{Name: "/sched/goroutines/runnable:goroutines"},
		{Name: "/sched/goroutines/running:goroutines"},
	}
	quiet := 0
	for begin := time.Now(); quiet < inARow && time.Since(begin) < settleFor; {
		runtime.Gosched()
		<-time.After(200 * time.Microsecond) // let timers and finalizers at it
		metrics.Read(samples)
		quiet++
		if samples[0].Value.Uint64() > 0 || samples[1].Value.Uint64() > 1 { // one is this
			quiet = 0
		}
	}
}
