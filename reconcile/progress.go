// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"fmt"
	"time"
)

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
	// Failing: wedged for FailAfter. Whether Check fails is the Budget's decision.
	Failing
)

func (s Stage) String() string {
	names := [...]string{Running: "Running", Overrun: "Overrun", Wedged: "Wedged", Failing: "Failing"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("Stage(%d)", int(s))
	}
	return names[s]
}

// progress is a stage, and when it is over.
type progress struct {
	stage Stage
	due   time.Time
}

// pulse is how often reconciles are looked at whose context has ended, so that a pause of
// the process is noticed: a timer that fires later than this was held up.
const pulse = time.Second

// next returns when the progress has to be looked at, as of now.
func (p progress) next(now time.Time) time.Time {
	if soon := now.Add(pulse); p.stage != Running && soon.Before(p.due) {
		return soon
	}
	return p.due
}

// advance returns the progress at now, given how long each stage takes. It moves by at
// most one stage at a time, and each stage begins when the one before is seen to be
// over, not when it should have been. late is by how much this look is late. A process
// that was paused for that long has not given the reconcile the time in which it could
// have returned, so the stage is longer by as much; but for the first, since ending a
// context late is better than later, and does no harm.
func (p progress) advance(now time.Time, late time.Duration, opts DeadlineOptions) progress {
	if p.stage != Running && late > pulse {
		p.due = p.due.Add(late)
	}
	if p.stage == Failing || now.Before(p.due) {
		return p
	}
	switch p.stage {
	case Running:
		return progress{Overrun, now.Add(opts.Grace)}
	case Overrun:
		return progress{Wedged, now.Add(opts.FailAfter)}
	default:
		return progress{stage: Failing}
	}
}
