// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"time"

	"k8s.io/utils/clock"
)

// subject is the state under test, with the package's own listerWatcher. All that the
// model touches of the state is in this file, and what it touches of listerWatcher in
// fleet_reflector_test.go.
type subject struct {
	state   state
	books   *listerWatcher
	monitor *Monitor    // for its way to carry out cures
	seen    observation // at the last look
	rests   time.Time   // is not looked at before
	tamper
}

// tamper breaks a rule on purpose, to see that it is noticed.
type tamper struct {
	before, after func(*state, observation) // a look
	answer        func(*state, actionKind, *answer)
}

// fleetClock makes a clock for a monitor that is not started.
type fleetClock struct {
	clock.WithTicker
	host *hostClock
}

func (c fleetClock) Now() time.Time { return c.host.now }

func newSubject(p profile, c *hostClock, salt uint64, t tamper) subject {
	o := p.options()
	o.Clock = fleetClock{host: c}
	m, err := New(o)
	if err != nil {
		panic(err)
	}
	return subject{
		state: state{limits: m.limits, salt: salt},
		books: m.WrapListerWatcher(nil).(*listerWatcher), monitor: m, tamper: t,
	}
}

// carryOut does what the monitor does for a cure, and tells whether it asked for new
// connections.
func (x *subject) carryOut(a action) bool {
	before := x.monitor.reconnected
	x.monitor.cure(&tracked{lw: x.books}, a)
	return x.monitor.reconnected != before
}

func (x *subject) step(o observation) []action {
	if x.before != nil {
		x.before(&x.state, o)
	}
	acts := x.state.step(o)
	if d := x.state.doubt; d != nil {
		d.ladder.backoff.Jitter = 0 // it comes from dice of its own
	}
	if x.after != nil {
		x.after(&x.state, o)
	}
	x.seen, x.rests = o, x.state.restsUntil(o)
	return acts
}

func (x *subject) want(at time.Time) { x.state.want(at); x.wake() }
func (x *subject) move()             { x.state.spreadWanted = true; x.wake() }
func (x *subject) wake()             { x.rests = time.Time{} }
func (x *subject) owe(at time.Time, rv string, lacks func() bool) {
	x.state.owe(at, rv, lacks)
	x.wake()
}

func (x *subject) fresh() time.Time                  { return x.state.freshAsOf }
func (x *subject) doubts() bool                      { return x.state.doubt != nil }
func (x *subject) follows() bool                     { return x.state.bookmarks && !x.state.noBookmarks }
func (x *subject) verdict(now time.Time) Verdict     { return x.state.verdict(now) }
func (x *subject) bound(now time.Time) time.Duration { return x.state.bound(now) }
func (x *subject) failsLiveness(v Verdict) bool {
	return failsLiveness(v, x.state.stalledFor(), DefaultFailAfter)
}

// hand gives the state the answer to what it asked.
func (x *subject) hand(kind actionKind, a answer) {
	if x.answer != nil {
		x.answer(&x.state, kind, &a)
	}
	x.wake()
	if kind == actProbe {
		x.state.onProbe(a)
	} else {
		x.state.onRead(a)
	}
}

// auditNow is what an audit that begins now will find, the monitor's part of it.
func (x *subject) auditNow(now time.Time, lacks []commit) auditResult {
	s := &x.state
	r := auditResult{at: s.freshAsOf, objects: 1}
	if s.unprovable() {
		r.at = now
		if len(lacks) > 0 {
			r.found = differences{"an/object": versions{server: versionText(lacks[0].rv)}}
		}
	}
	return r
}

func (x *subject) handAudit(r auditResult) { x.state.onAudit(r); x.wake() }

// skipTo pretends that the looks until then were taken, and showed nothing. Where
// informers rest, the last of them may be as long ago as a rest.
func (x *subject) skipTo(last time.Time, restless bool) {
	s := &x.state
	s.swept = last
	if !restless {
		last = last.Add(-rest)
	}
	s.looked = latest(s.looked, last)
}

// due is the first moment at which the state may do something though nothing has
// happened to it. TestFleetSkipsNothing proves it right.
func (x *subject) due(c *hostClock) time.Duration {
	at := x.state.due(x.seen)
	if at.IsZero() {
		return 0
	}
	d := c.when(at)
	if old := x.state.ages(x.seen.now); !old.IsZero() {
		d = min(d, c.whenWall(old))
	}
	return d
}
