// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/freshwatch/freshwatch/freshness"
)

// run is what is known since Start. The canary's lock guards all but the writer, which
// belongs to the goroutine that writes.
type run struct {
	log     logr.Logger
	monitor *freshness.Monitor // nil: not there yet
	writer  writer

	began, looked time.Time
	next          time.Time // write
	writing       bool
	beats         beats
	returned      bool
	failing       time.Time // since when no write was acknowledged; zero: the last was
	err           error     // how the last one failed
	missing       []string  // rights
	reviewed      bool

	healthy   time.Time // since when the state has been Fresh; zero: it is not
	restarts  restarts  // on the Lease
	asking    bool      // the write under way asks for a restart
	tried     time.Time // when that was last done; zero: not in this stall
	failed    bool      // one is asked for: Check fails
	exhausted bool      // one would be, but too many were
}

// look does what is due, and returns the next write if that is.
func (c *Canary) look(r *run) (b beat, edit func(restarts) restarts, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opts.Clock.Now()
	if late := now.Sub(r.looked) - tick; late > tick {
		r.beats.postpone(late)
	}
	r.looked = now
	c.conclude(now)
	ask := c.asks(r, now)
	if r.writing || now.Before(r.next) && !ask {
		return beat{}, nil, false
	}
	r.writing, r.asking = true, ask
	if ask {
		r.tried = now
	}
	if !now.Before(r.next) {
		r.next = now.Add(c.jittered())
	}
	b = beat{at: now, review: !r.reviewed || len(r.missing) > 0 || apierrors.IsForbidden(r.err)}
	forget := !r.healthy.IsZero() && now.Sub(r.healthy) >= c.opts.Budget.HealthyAfter
	window, most := c.opts.Budget.Window, c.opts.Budget.Restarts
	return b, func(had restarts) restarts {
		had = had.within(now, window)
		switch {
		case forget:
			return nil
		case ask && len(had) < most:
			return had.add(now)
		}
		return had
	}, true
}

// asks tells whether a restart has to be asked for, which is noted on the Lease first:
// who cannot note it does not restart.
func (c *Canary) asks(r *run, now time.Time) bool {
	if !outlasted(c.state, r.beats.age(now), c.opts.FailAfter) {
		r.failed, r.exhausted, r.tried = false, false, time.Time{}
		return false
	}
	r.exhausted = !r.failed && len(r.restarts.within(now, c.opts.Budget.Window)) >= c.opts.Budget.Restarts
	return !r.failed && !r.exhausted && !r.writing && now.Sub(r.tried) >= c.opts.Interval
}

// take notes what became of a write.
func (c *Canary) take(r *run, w written) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.writing = false
	c.countWrite(w.err)
	if r.err = w.err; w.err == nil {
		r.failing = time.Time{}
		if trip, back := r.beats.ack(sent{at: w.at, acked: w.acked, rv: w.rv}); back {
			c.back(r, trip)
		}
		c.askedFor(r, w)
	} else if r.failing.IsZero() {
		r.failing = w.at
	}
	if w.garbled {
		r.log.Info("An annotation of the Lease cannot be read and is replaced: does somebody edit it, or is a clock ahead?", "annotation", annotation)
	}
	r.asking = false
	c.conclude(c.opts.Clock.Now())
}

// askedFor notes which restarts the Lease has now, and whether one was asked for.
func (c *Canary) askedFor(r *run, w written) {
	r.restarts = w.restarts
	if !r.asking {
		return
	}
	if n := len(w.restarts); n > 0 && !w.restarts[n-1].Before(w.at.Truncate(time.Second)) {
		r.failed = true
		c.asked++
		r.log.Info("Watch canary asks for a restart", "within", c.opts.Budget.Window, "asked", n, "limit", c.opts.Budget.Restarts)
	}
}

// saw takes an event.
func (c *Canary) saw(r *run, rv string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opts.Clock.Now()
	for _, trip := range r.beats.see(now, rv) {
		c.back(r, trip)
	}
	if c.run == r {
		c.conclude(now)
	}
}

// back notes a round trip. The caller holds the lock.
func (c *Canary) back(r *run, trip time.Duration) {
	r.returned = true
	c.trips.Observe(trip.Seconds())
}

// note takes the rights that this process was found to lack.
func (c *Canary) note(r *run, missing []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(missing) > 0 && len(r.missing) == 0 {
		r.log.Info("Watch canary lacks rights", "reason", rulesFor(missing, c.opts.Namespace, c.opts.Name))
	}
	r.missing, r.reviewed = missing, true
}

// conclude notes and tells a change of state. The caller holds the lock.
func (c *Canary) conclude(now time.Time) {
	r := c.run
	e, reason := c.evidence(now)
	state := judge(e, c.opts.Interval)
	if state != Fresh {
		r.healthy = time.Time{}
	} else if r.healthy.IsZero() {
		r.healthy = now
	}
	if state == c.state {
		return
	}
	r.log.Info("Watch canary changed", "state", state, "previous", c.state, "reason", c.reason(state, now, reason))
	c.state, c.since = state, now
}

// evidence gathers what the state rests on, and what the monitor says of the informer.
func (c *Canary) evidence(now time.Time) (evidence, string) {
	r := c.run
	if r == nil {
		return evidence{}, ""
	}
	e := evidence{leads: true, since: now.Sub(r.began), returned: r.returned, unseen: r.beats.age(now), blind: c.state == Blind}
	if !r.failing.IsZero() {
		e.failing = max(1, now.Sub(r.failing))
	}
	if e.unseen <= lateAfter || r.monitor == nil {
		return e, ""
	}
	st, _ := r.monitor.StatusOf(c.informer())
	e.informer = st.Verdict
	return e, st.Reason
}

// reason says in a sentence why the state is what it is.
func (c *Canary) reason(s State, now time.Time, informer string) string {
	r := c.run
	switch s {
	case Standby:
		return "this process does not lead"
	case Pending:
		return "no write has come back yet"
	case Fresh:
		return "writes come back"
	case Stalled, ControlPlaneStalled:
		return fmt.Sprintf("a write acknowledged %v ago has not come back: %s", r.beats.age(now).Round(time.Second), informer)
	case Blind:
		return c.blindness(r, now, informer)
	}
	return ""
}

func (c *Canary) blindness(r *run, now time.Time, informer string) string {
	switch {
	case len(r.missing) > 0:
		return rulesFor(r.missing, c.opts.Namespace, c.opts.Name)
	case errors.Is(r.err, errContended), errors.Is(r.err, errConflicts):
		return r.err.Error()
	case r.err != nil:
		return "the Lease cannot be written: " + r.err.Error()
	case informer != "":
		return fmt.Sprintf("a write acknowledged %v ago has not come back, and it cannot be told why: %s", r.beats.age(now).Round(time.Second), informer)
	}
	return "no write has come back"
}
