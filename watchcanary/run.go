// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/internal/errtext"
	"github.com/freshwatch/freshwatch/internal/restartlease"
)

// annotation of the Lease holds the restarts.
const annotation = "freshwatch.github.io/restarts"

// reviewEvery is how often rights are asked for while there is doubt.
const reviewEvery = time.Minute

// run is what is known since Start. The canary's lock guards all but the writer, which
// belongs to the goroutine that writes.
type run struct {
	log      logr.Logger
	monitor  *freshness.Monitor    // nil: not there yet
	informer freshness.EventSource // the canary's own
	writer   writer

	began, looked time.Time
	next          time.Time // write
	writing       bool
	beats         beats
	returned      bool
	failing       time.Time // since when no write was acknowledged; zero: the last was
	err           error     // how the last one failed
	missing       []string  // rights
	reviewed      time.Time // when they were last asked for
	sure          bool      // and there was an answer
	blindness     blindness // as last told

	healthy   time.Time             // since when the state has been Fresh; zero: it is not
	restarts  restartlease.Restarts // on the Lease
	note      time.Time             // that a restart is asked for in this stall, as of then; zero: none is
	tried     time.Time             // when that was last written
	failed    bool                  // it is on the Lease: Check fails
	exhausted bool                  // it would be, but too many are
}

// forgive moves what is counted by a time in which this process did not run.
func (r *run) forgive(now time.Time) {
	if late := now.Sub(r.looked) - tick; late > tick {
		r.beats.postpone(late)
		if !r.failing.IsZero() {
			r.failing = r.failing.Add(late)
		}
	}
	r.looked = now
}

// look does what is due, and returns the next write if that is.
func (c *Canary) look(r *run) (b beat, edit func(restartlease.Restarts) restartlease.Restarts, due bool) {
	c.mu.Lock()
	defer c.unlock()
	now := c.opts.Clock.Now()
	c.conclude(now)
	ask := c.asks(r, now)
	if r.writing || now.Before(r.next) && !ask {
		return beat{}, nil, false
	}
	r.writing = true
	if ask {
		r.tried = now
	}
	if !now.Before(r.next) {
		r.next = now.Add(c.jittered())
	}
	doubtful := !r.sure || len(r.missing) > 0 || c.state == Blind || apierrors.IsForbidden(r.err)
	b = beat{at: now, review: doubtful && now.Sub(r.reviewed) >= min(reviewEvery, c.opts.Interval*9/10)}
	if b.review {
		r.reviewed = now
	}
	return b, c.edit(r, ask, now), true
}

// edit returns what becomes of the restarts on the Lease with the next write.
func (c *Canary) edit(r *run, ask bool, now time.Time) func(restartlease.Restarts) restartlease.Restarts {
	note, most, window := r.note, c.opts.Budget.Restarts, c.opts.Budget.Window
	stalled := !note.IsZero()
	healthy := !r.healthy.IsZero() && r.beats.back.Sub(r.healthy) >= c.opts.Budget.HealthyAfter
	return func(had restartlease.Restarts) restartlease.Restarts {
		if !stalled { // else they are about this very fault
			had = had.Recent(now, window)
		}
		switch {
		case healthy:
			return nil
		case ask && !had.Has(note) && len(had) < most:
			return had.Add(note)
		}
		return had
	}
}

// asks tells whether a restart has to be asked for, which is noted on the Lease first:
// who cannot note it does not restart.
func (c *Canary) asks(r *run, now time.Time) bool {
	if !outlasted(c.state, r.beats.age(now), c.opts.FailAfter) {
		r.failed, r.exhausted, r.note, r.tried = false, false, time.Time{}, time.Time{}
		return false
	}
	if r.note.IsZero() {
		r.note = now
	}
	if exhausted := !r.failed && len(r.restarts) >= c.opts.Budget.Restarts; exhausted != r.exhausted {
		r.exhausted = exhausted
		if exhausted {
			c.say(r.log, "Watch canary asks for no more restarts: look for the cause", "asked", len(r.restarts), "limit", c.opts.Budget.Restarts)
		}
	}
	return !r.failed && !r.exhausted && !r.writing && now.Sub(r.tried) >= c.opts.Interval
}

// take notes what became of a write.
func (c *Canary) take(r *run, w written) {
	c.mu.Lock()
	defer c.unlock()
	now := c.opts.Clock.Now()
	r.forgive(now)
	r.writing = false
	c.countWrite(w.err)
	asking := !r.tried.IsZero() && r.tried.Equal(w.at)
	if r.err = w.err; w.err == nil {
		r.failing = time.Time{}
		if trip, back := r.beats.ack(sent{at: w.at, acked: w.acked, rv: w.rv}); back {
			c.back(r, trip)
		}
		c.noted(r, w, asking)
	} else {
		if r.failing.IsZero() {
			r.failing = later(w.at, now.Add(-writeTimeout)) // it may have been stopped in the middle
		}
		if asking {
			c.say(r.log, "Watch canary cannot note a restart, and so asks for none", "reason", errtext.OneLine(w.err))
		}
	}
	c.conclude(now)
}

// noted takes the restarts that are on the Lease now.
func (c *Canary) noted(r *run, w written, asking bool) {
	r.restarts = w.restarts
	if w.garbled {
		c.say(r.log, "An annotation of the Lease could not be read and was replaced: does somebody edit it, or is a clock ahead?", "annotation", annotation)
	}
	switch {
	case r.note.IsZero() || r.failed:
	case w.restarts.Has(r.note):
		r.failed = true
		c.asked++
		c.say(r.log, "Watch canary asks for a restart", "asked", len(w.restarts), "limit", c.opts.Budget.Restarts)
	case asking && len(w.restarts) < c.opts.Budget.Restarts:
		c.say(r.log, "Watch canary cannot note a restart, and so asks for none", "reason", "the Lease came back without it: does something on the way change it?")
	}
}

// saw takes an event.
func (c *Canary) saw(r *run, rv string) {
	c.mu.Lock()
	defer c.unlock()
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
	if len(c.recent) == tripsAtMost {
		c.recent = slices.Delete(c.recent, 0, 1)
	}
	now := c.opts.Clock.Now()
	c.recent = append(c.recent, RoundTrip{At: now.Add(-trip), Took: trip})
}

// note takes the rights that this process was found to lack. Where they could not be
// asked for, what was known of them stays.
func (c *Canary) note(r *run, missing []string, err error) {
	c.mu.Lock()
	defer c.unlock()
	if r.sure = err == nil; !r.sure {
		return
	}
	if len(missing) > 0 && len(r.missing) == 0 {
		c.say(r.log, "Watch canary lacks rights", "reason", restartlease.Lacking(missing, c.opts.Namespace, c.opts.Name, rules(c.opts.Name)))
	}
	r.missing = missing
}

// conclude notes and tells a change of state, and of why nothing can be told. The
// caller holds the lock.
func (c *Canary) conclude(now time.Time) {
	r := c.run
	e, informer := c.evidence(now)
	state := judge(e, c.opts.Interval)
	if state != Fresh {
		r.healthy = time.Time{}
	} else if r.healthy.IsZero() {
		r.healthy = now
	}
	why := sighted
	if state == Blind {
		why = r.blindnessOf(informer)
	}
	if state == c.state && why == r.blindness {
		return
	}
	c.say(r.log, "Watch canary changed", "state", state, "previous", c.state, "reason", c.reason(state, now, informer))
	if state != c.state {
		c.state, c.since = state, now
	}
	r.blindness = why
}

// evidence gathers what the state rests on, and what the monitor says of the informer.
func (c *Canary) evidence(now time.Time) (evidence, string) {
	r := c.run
	if r == nil {
		return evidence{}, ""
	}
	r.forgive(now)
	e := evidence{leads: true, since: now.Sub(r.began), returned: r.returned, unseen: r.beats.age(now), blind: c.state == Blind}
	if !r.failing.IsZero() {
		e.failing = max(1, now.Sub(r.failing))
	}
	if e.unseen <= lateAfter || r.monitor == nil {
		return e, ""
	}
	st, found := r.monitor.StatusOfInformer(r.informer)
	if !found {
		st.Reason = "its informer does not run"
	}
	e.informer = st.Verdict
	return e, st.Reason
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
