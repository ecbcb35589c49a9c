// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"slices"
	"time"
)

// limits are the options that a state obeys.
type limits struct {
	maxStaleness time.Duration
	syncTimeout  time.Duration
	tick         time.Duration
	cures        []Rung // allowed, cheapest first
}

// observation is what one look at an informer shows. It costs two short locks
// and no request.
type observation struct {
	now       time.Time
	synced    bool
	stored    string // resourceVersion of the store: what reads see
	reflected string // resourceVersion of the reflector: what the stream brought
	stream    streamInfo
	previous  streamInfo
	err       error // how the last list or watch request failed, if it did
}

// action is something a state asks its monitor to do.
type action struct {
	kind actionKind
	rung Rung // of actCure
}

type actionKind int

const (
	actRead  actionKind = iota // which resourceVersion is everything committed at?
	actProbe                   // at which is the server's watch cache?
	actCure
)

// state is all that is known of one informer, and every decision about it.
// Its methods take the time and what was seen, do no I/O and read no clock.
type state struct {
	limits

	swept  time.Time // the last look
	synced bool
	stored string
	moved  time.Time // when stored was last seen to move
	stream uint64
	phase  phase

	freshAsOf time.Time // zero: nothing proven yet
	pending   *proof    // the oldest that is outstanding: the one that can be overdue
	newer     *proof    // the newest, if another
	reading   bool
	lastRead  time.Time
	nextRead  time.Time     // just before the next bookmark; zero: read for it already
	readSoon  time.Time     // and at this time regardless of bookmarks; zero: no need
	latency   time.Duration // of reads, smoothed
	read      readState
	readErr   error

	bookmarks   bool // this informer has been seen to move in a bookmark's window
	noBookmarks bool // a watch ended on time without the bookmark it owed
	wentBack    bool // the last read was older than the store: to be confirmed

	doubt    *doubt
	counters counters
	events   []Event
}

// doubt is an overdue proof and what has been done about it.
type doubt struct {
	since      time.Time
	proof      proof
	conclusive bool
	back       bool // the API server went back in time: nothing to wait for, relist

	server    serverState
	serverRV  string // where the server's watch cache was, when it was late
	reachedAt time.Time
	probing   bool
	answered  bool // since the last cure
	nextProbe time.Time

	ladder   ladder
	cure     Rung
	curing   bool
	curedAt  time.Time
	verifyBy time.Time
	retries  int // of a watch that was ended before it could prove its cure
}

// counters only grow.
type counters struct {
	reads, failedReads, proofs, doubts uint64
	cures, provenCures                 [len(rungNames)]uint64
}

const (
	maxRetries = 3                // of a cure that was cut short by others
	retryRead  = 10 * time.Second // after a failed read or a late server
	confirmGap = 3 * time.Second  // between reads while resourceVersions went back
	// renewalTime is what it takes to notice, ask the server, renew a watch and
	// have its bookmark, with the ticks between.
	renewalTime = verifyTimeout + 2*verifySlack
	clockSlip   = 2 * time.Second // wall against monotonic: a suspended machine or a set clock
)

// step takes one look at the informer and returns what to do about it.
func (s *state) step(o observation) []action {
	if !s.swept.IsZero() {
		s.forgive(o.now, o.now.Sub(s.swept), o.now.Round(0).Sub(s.swept.Round(0)))
	}
	defer func() { s.swept, s.stored = o.now, o.stored }()
	if !o.synced {
		return s.cutEndlessStream(o)
	}
	s.follow(o)
	s.settle(o)
	return append(s.ask(o), s.heal(o)...)
}

// forgive moves every deadline by the time in which this process did not run:
// paused, starved of CPU, or collecting garbage. What came in the meantime
// waits in the kernel's buffers and will be seen now. After a suspended machine
// or a set clock, when the time since the last look differs by the monotonic
// clock (gap) and the wall clock, nothing is known of the server's phase either.
func (s *state) forgive(now time.Time, gap, wall time.Duration) {
	if d := wall - gap; d > clockSlip || d < -clockSlip {
		s.phase = newPhase(window{now.Add(-unknownPhaseWidth), now}, time.Time{})
		s.readSoon = now
		if s.pending != nil {
			s.pending.limit = now.Add(longestProof)
			s.pending.due = s.pending.limit
		}
	}
	late := gap - s.tick
	if late <= s.tick {
		return
	}
	if s.pending != nil {
		s.pending.postpone(late)
	}
	if d := s.doubt; d != nil {
		d.verifyBy = d.verifyBy.Add(late)
		d.nextProbe = d.nextProbe.Add(late)
	}
}

// cutEndlessStream ends a stream of initial events that does not end itself,
// and tells the reflector to LIST instead.
func (s *state) cutEndlessStream(o observation) []action {
	if !o.stream.initial || !o.stream.open || o.stream.cut || o.now.Sub(o.stream.began) < s.syncTimeout || !slices.Contains(s.cures, List) {
		return nil
	}
	return []action{s.startCure(o.now, List)}
}

// follow keeps the phase in step with the stream.
func (s *state) follow(o observation) {
	if !s.synced {
		s.synced, s.lastRead = true, o.now
		if o.stream.consistent {
			s.prove(o.now, o.stream.began)
		} else {
			s.readSoon = o.now
		}
	}
	switch inInitial := o.stream.initial && o.reflected == o.stream.startRV; {
	case o.stream.id != s.stream || inInitial:
		s.cleanEnd(o)
		began := window{o.stream.began, o.stream.answered}
		if o.stream.initial {
			// Bookmarks are counted from the end of the initial events.
			began = window{latest(s.swept, o.stream.began), o.now.Add(bookmarkLatest - 60*time.Second)}
		}
		s.stream = o.stream.id
		s.phase = newPhase(began, o.stream.deadline)
		s.plan()
		if s.pending != nil && s.doubt == nil {
			s.pending.await(o.now, s.phase, s.stream)
		}
	case o.stored != s.stored:
		s.moved = o.now
		s.phase = s.phase.observe(s.swept, o.now)
	}
	var rolled bool
	if s.phase, rolled = s.phase.roll(o.now); rolled {
		s.plan()
	}
}

// plan sets the next read for just before the next bookmark, but not later than
// one period after the last proof: where streams never live until their bookmark,
// the phase alone would put it off for ever.
func (s *state) plan() {
	s.nextRead = s.phase.next().from.Add(-lead(s.latency))
	if limit := latest(s.freshAsOf.Add(bookmarkLatest), s.lastRead.Add(retryRead)); s.nextRead.After(limit) {
		s.nextRead = limit
	}
}

// cleanEnd takes the ordinary end of a short watch for the proof it is: opened
// when the server's cache was known to hold the change, and ended by the server
// in time, it has brought all there was to bring. Where no bookmark came with
// it, this server sends none.
func (s *state) cleanEnd(o observation) {
	d, p := s.doubt, o.previous
	if d == nil || d.back || p.id != s.stream || !p.short || p.cut || o.stream.initial ||
		d.server != serverReached || !p.began.After(d.reachedAt) ||
		p.ended.Before(p.deadline.Add(-time.Second)) {
		return
	}
	s.clear(o.now)
	s.noBookmarks, s.pending, s.newer, s.readSoon = true, nil, nil, time.Time{}
}

// settle looks whether the store has reached what it was asked for.
func (s *state) settle(o observation) {
	if d := s.doubt; d != nil && !d.back && reached(o.stored, d.proof.rv) {
		s.clear(o.now)
	}
	for p := s.pending; p != nil && reached(o.stored, p.rv); p = s.pending {
		if s.doubt == nil && o.stored != s.stored && !p.capped() {
			s.bookmarks, s.noBookmarks = true, false
		}
		s.pending, s.newer = s.newer, nil
		s.prove(o.now, p.at)
	}
	if p := s.pending; p != nil && s.doubt == nil && o.now.After(p.due) {
		s.counters.doubts++
		s.doubt = &doubt{
			since: o.now, proof: *p, ladder: newLadder(), nextProbe: o.now,
			conclusive: s.bookmarks && !s.noBookmarks && !p.capped() && p.stream == o.stream.id,
		}
		s.pending, s.newer = s.newer, nil
	}
}

// expect adds a proof to those outstanding.
func (s *state) expect(p *proof) {
	if s.pending == nil {
		s.pending = p
		return
	}
	s.newer = p
}

// prove moves freshAsOf forward.
func (s *state) prove(now, at time.Time) {
	s.counters.proofs++
	if at.After(s.freshAsOf) {
		s.freshAsOf = at
	}
	s.emit(Event{Time: now, Type: Proven, FreshAsOf: s.freshAsOf})
}

// clear ends a doubt whose proof has been reached, and asks for the next proof
// at once, while the cure's short watch is open.
func (s *state) clear(now time.Time) {
	d := s.doubt
	s.doubt, s.noBookmarks = nil, false
	if d.curing {
		s.counters.provenCures[d.cure]++
		s.emit(Event{Time: now, Type: CureProven, Cure: d.cure})
	}
	s.prove(now, d.proof.at)
	if s.pending == nil {
		s.readSoon = now
	}
}

func (s *state) emit(e Event) { s.events = append(s.events, e) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
