// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Status is what a canary knows at one moment.
type Status struct {
	State State
	// Reason is a sentence for a person.
	Reason string
	// Since is when the state was reached.
	Since time.Time
	// Unseen is for how long the oldest acknowledged write has not come back; zero: all
	// have.
	Unseen time.Duration
	// Restarts is how many restarts were asked for without a healthy spell since, by this
	// process and those before it, as the Lease was last written. Exhausted says that
	// another one would be due, and is not asked for: somebody has to look.
	Restarts  int
	Exhausted bool
	// Missing are the verbs on the Lease that this process lacks.
	Missing []string
	// RoundTrips are the newest of this process, at most 60, the oldest first.
	RoundTrips []RoundTrip

	failed bool
}

// RoundTrip is a write that has come back.
type RoundTrip struct {
	// At is when it was sent, and Took the time until its event came.
	At   time.Time
	Took time.Duration
}

// tripsAtMost is an hour of DefaultInterval.
const tripsAtMost = 60

// Status returns what the canary knows. It does no I/O.
func (c *Canary) Status() Status {
	c.mu.Lock()
	defer c.unlock()
	now := c.opts.Clock.Now()
	e, informer := c.evidence(now)
	st := Status{State: judge(e, c.opts.Interval), Since: c.since, Unseen: e.unseen}
	st.Reason, st.RoundTrips = c.reason(st.State, now, informer), slices.Clone(c.recent)
	if st.State != c.state {
		st.Since = now
	}
	if r := c.run; r != nil {
		st.Restarts = len(r.restarts)
		st.Exhausted, st.Missing = r.exhausted, append([]string(nil), r.missing...)
		st.failed = r.failed && outlasted(st.State, e.unseen, c.opts.FailAfter)
	}
	return st
}

// ErrStalled is matched by the error of Check.
var ErrStalled = errors.New("watchcanary: stalled")

// Check implements controller-runtime's healthz.Checker. It fails while the canary is
// Stalled, its oldest acknowledged write has not come back for Options.FailAfter, and
// the restart that this asks for could be noted on the Lease, within Options.Budget. It
// passes in every other case: on a standby, in the first two minutes without a result,
// while the API server cannot be reached or its watch cache is frozen, and without rights.
// Use it for liveness, never for readiness. It takes short locks and does no I/O.
//
// The error matches ErrStalled.
func (c *Canary) Check(*http.Request) error {
	st := c.Status()
	if !st.failed {
		return nil
	}
	return fmt.Errorf("%w: lease %s/%s: %s (limit %v; restart %d of at most %d)", ErrStalled, c.opts.Namespace, c.opts.Name,
		st.Reason, c.opts.FailAfter, st.Restarts, c.opts.Budget.Restarts)
}
