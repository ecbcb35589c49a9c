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
	x.seen = o
	return acts
}

func (x *subject) want(at time.Time)                              { x.state.want(at) }
func (x *subject) move()                                          { x.state.spreadWanted = true }
func (x *subject) owe(at time.Time, rv string, lacks func() bool) { x.state.owe(at, rv, lacks) }
func (x *subject) fresh() time.Time                               { return x.state.freshAsOf }
func (x *subject) doubts() bool                                   { return x.state.doubt != nil }
func (x *subject) follows() bool                                  { return x.state.bookmarks && !x.state.noBookmarks }
func (x *subject) verdict(now time.Time) Verdict                  { return x.state.verdict(now) }
func (x *subject) bound(now time.Time) time.Duration              { return x.state.bound(now) }
func (x *subject) failsLiveness(v Verdict) bool {
	return failsLiveness(v, x.state.stalledFor(), DefaultFailAfter)
}

// hand gives the state the answer to what it asked.
func (x *subject) hand(kind actionKind, a answer) {
	if x.answer != nil {
		x.answer(&x.state, kind, &a)
	}
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

func (x *subject) handAudit(r auditResult) { x.state.onAudit(r) }

// skipTo pretends that the looks until then were taken, and showed nothing.
func (x *subject) skipTo(last time.Time) { x.state.swept = last }

// due is the first moment at which the state may do something though nothing has
// happened to it: now, except in the one case that matters for speed, a healthy
// informer with an open stream. TestFleetSkipsNothing proves it right.
func (x *subject) due(c *hostClock) time.Duration {
	s, o := &x.state, x.seen
	if !s.synced || s.doubt != nil || !s.owed.since.IsZero() || s.wantsMore() || s.read == readBlind || s.spreadWanted ||
		!o.stream.open || o.stream.cut || o.stream.listing || s.opening(o) || s.wasOpening {
		return 0
	}
	d := never
	at := func(t time.Time) {
		if !t.IsZero() {
			d = min(d, c.when(t))
		}
	}
	at(s.phase.next().to.Add(1))
	if !s.reading {
		at(s.nextRead)
		at(s.readSoon)
	}
	if s.auditEvery > 0 && !s.audits.running {
		if s.audits.next.IsZero() || len(s.audits.diverged) > 0 {
			return 0
		}
		at(s.audits.next)
	}
	if s.pending != nil {
		at(s.pending.due.Add(1))
	}
	if !s.freshAsOf.IsZero() {
		old := s.maxStaleness + 1
		if s.period() < bookmarkLatest {
			old = s.period()
		}
		if s.bound(o.now) > s.maxStaleness {
			old = never // it is, already
		}
		if old < never {
			at(s.freshAsOf.Add(old))
			d = min(d, c.whenWall(s.freshAsOf.Add(old)))
		}
	}
	return d
}
