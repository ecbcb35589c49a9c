// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import "time"

// Stage is how far a reconcile that runs has come in not returning.
type Stage int

// The stages. Each has its time, DeadlineOptions.Timeout, Grace and FailAfter, from the
// moment at which it began.
const (
	// Running: within its deadline.
	Running Stage = iota
	// Overrun: its context has ended, and it has not returned.
	Overrun
	// Wedged: it does not return though its context has ended long ago. Nothing in this
	// process can end it: Go has no means to stop a goroutine.
	Wedged
	// Failing: for so long that a restart is asked for.
	Failing
)

func (s Stage) String() string {
	return [...]string{Running: "Running", Overrun: "Overrun", Wedged: "Wedged", Failing: "Failing"}[s]
}

// progress is a stage, and when it is over.
type progress struct {
	stage Stage
	due   time.Time
}

// advance returns the progress at now, given how long each stage takes. It moves by at
// most one stage at a time, and each stage begins when the one before is seen to be
// over, not when it should have been: a process that was paused has to be given the
// time in which the reconcile can return. For the same reason a stage that ends late, by
// more than half of its time, begins again; but for the first, since ending a context
// late is better than later, and does no harm.
func (p progress) advance(now time.Time, opts DeadlineOptions) progress {
	if p.stage == Failing || now.Before(p.due) {
		return p
	}
	takes := [...]time.Duration{Running: opts.Timeout, Overrun: opts.Grace, Wedged: opts.FailAfter}
	if p.stage != Running && now.Sub(p.due) > takes[p.stage]/2 {
		return progress{p.stage, now.Add(takes[p.stage])}
	}
	next := p.stage + 1
	if next == Failing {
		return progress{stage: Failing}
	}
	return progress{next, now.Add(takes[next])}
}
