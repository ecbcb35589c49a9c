// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"math/rand/v2"
	"time"
)

// state is all that is known of one informer, and every decision about it.
// Its methods take the time and what was seen, do no I/O and read no clock.
type state struct {
	limits

	swept      time.Time // the last look, or rest
	looked     time.Time // the last look
	misled     bool      // what it shows is another informer's
	synced     bool
	unsynced   bool // it was seen before that
	stored     string
	moved      time.Time  // when that last changed
	watch      streamInfo // as of the last look
	bookmarked time.Time  // when a bookmark last proved something
	reflected  string
	atStart    string    // what the stream's predecessor had brought
	down       readState // what keeps a stream from being opened; readOK: one is open, or will be
	downErr    error
	syncTook   time.Duration // the first initial events
	wasOpening bool
	stream     uint64
	away       time.Duration // this process did not run, since the stream began
	awoke      time.Time     // when that was last over
	slipped    time.Time     // when wall and monotonic time last parted
	beginning  bool          // the stream has begun, or ended its initial events, since the last look
	conn       string        // of the stream
	shares     bool          // reads have come over it, as they do with HTTP/2
	phase      phase

	salt   uint64 // of jitter
	audits audits

	spreadWanted bool      // its proofs come with too many others
	spreadAt     time.Time // when that was last mended

	freshAsOf time.Time // zero: nothing proven yet
	provenRV  string    // at which it was; empty: none
	pending   *proof    // the oldest that is outstanding: the one that can be overdue
	newer     *proof    // the newest, if another
	reading   bool
	lastRead  time.Time
	goodRead  time.Time     // and the last that was answered
	goodConn  string        // which came on this
	nextRead  time.Time     // just before the next bookmark; zero: read for it already
	readSoon  time.Time     // and at this time regardless of bookmarks; zero: no need
	latency   time.Duration // of reads, smoothed
	read      readState
	readErr   error

	wanted time.Time // everything up to then has to be proven at once; zero: nothing is asked for
	owed   owed      // what this process has written, and not seen yet

	bookmarks   bool // this informer has been seen to move in a bookmark's window
	noBookmarks bool // a watch ended on time without the bookmark it owed
	crowd       bool // most informers stall at once
	wentBack    bool // the last read was older than the store: to be confirmed

	doubt    *doubt
	begunAt  time.Time // the stream, or its life after the initial events
	renewal  renewal
	lastCure Rung
	curedAt  time.Time
	cutSince time.Time // the stream was told to end, and has not; zero: none was
	relisted time.Time // when a relist last helped
	counters counters
	events   []Event
}

const (
	maxRetries = 3                // of a cure that was cut short by others
	retryRead  = 10 * time.Second // after a failed read or a late server
	confirmGap = 3 * time.Second  // between reads while resourceVersions went back
	// renewalTime is what it takes to notice, ask the server, renew a watch and
	// have its bookmark, with the ticks between.
	renewalTime = verifyTimeout + 2*verifySlack
	// storePatience is how long the store may stand still before what the stream has
	// brought: a hundred thousand objects are applied in a second or two.
	storePatience = time.Minute
	clockSlip     = 2 * time.Second // wall against monotonic: a suspended machine or a set clock
)

// limits are the options that a state obeys.
type limits struct {
	maxStaleness time.Duration
	syncTimeout  time.Duration
	auditEvery   time.Duration // 0: never
	hasServers   bool          // the API servers can be asked one by one
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
	byEvent   func(rv string) bool // whether an event may have brought it; a walk
	crowd     bool                 // most informers stall at once
	err       error                // how the last list or watch request failed, if it did
}

// action is something a state asks its monitor to do.
type action struct {
	kind actionKind
	rung Rung // of actCure
	// length is that of the watch which follows Resume; zero: that of one which has to
	// prove a cure.
	length time.Duration
	move   bool // of Reconnect: away from a frozen API server
	exact  bool // of a relist: not from the API server's watch cache, if that can be helped
}

type actionKind int

const (
	actRead    actionKind = iota // which resourceVersion is everything committed at?
	actProbe                     // at which is the server's watch cache?
	actServers                   // at which is each API server's?
	actAudit                     // does the cache hold what the API server does?
	actCure
)

// counters only grow.
type counters struct {
	reads, failedReads, proofs, doubts, renewals uint64
	audits, failedAudits                         uint64
	cures, provenCures                           [len(rungNames)]uint64
}

func (c *counters) add(o counters) {
	c.reads += o.reads
	c.failedReads += o.failedReads
	c.proofs += o.proofs
	c.doubts += o.doubts
	c.renewals += o.renewals
	c.audits += o.audits
	c.failedAudits += o.failedAudits
	for r := range c.cures {
		c.cures[r] += o.cures[r]
		c.provenCures[r] += o.provenCures[r]
	}
}

// step takes one look at the informer and returns what to do about it.
func (s *state) step(o observation) []action {
	if !s.swept.IsZero() {
		s.forgive(o.now, o.now.Sub(s.swept), o.now.Round(0).Sub(s.swept.Round(0)))
	}
	defer func() { s.swept, s.looked, s.stored, s.reflected = o.now, o.now, o.stored, o.reflected }()
	if s.watch = o.stream; o.stored != s.stored {
		s.moved = o.now
	}
	if acts := s.insist(o); acts != nil {
		return acts
	}
	if !o.synced {
		s.unsynced = true
		return s.cutEndlessStream(o)
	}
	s.down, s.downErr, s.crowd = readOK, nil, o.crowd
	if !o.stream.open && !o.stream.listing && o.err != nil {
		s.down, s.downErr = classify(o.err), o.err
	}
	s.follow(o)
	s.redeem(o)
	s.settle(o)
	s.roll(o.now)
	s.collect(o)
	acts := s.hurry(o)
	if len(acts) == 0 {
		acts = s.disperse(o)
	}
	acts = append(acts, s.ask(o)...)
	acts = append(acts, s.askServers(o)...)
	acts = append(acts, s.heal(o)...)
	acts = append(acts, s.audit(o)...)
	acts = append(acts, s.repair(o)...)
	s.blame(o)
	return acts
}

// blame notes since when the stream has been to blame, and nothing else: not
// while the server cannot tell, is behind itself, or takes no watch.
func (s *state) blame(o observation) {
	d := s.doubt
	if d == nil {
		return
	}
	if !d.counted && (d.convicts() || d.server == ServerLate || d.server == ServerFrozen) {
		d.counted = true
		s.counters.doubts++
	}
	switch arrived := !d.back && reached(o.reflected, d.proof.rv); {
	case !arrived:
		d.arrived = time.Time{}
	case d.arrived.IsZero(), o.stored != s.stored: // slow is not blocked
		d.arrived = o.now
	}
	d.stuck = !d.arrived.IsZero() && o.now.Sub(d.arrived) >= storePatience || d.stuck && (!o.stream.open || o.stream.cut)
	switch {
	case !d.convicts() || d.server != ServerReached || s.down != readOK:
		d.blamed = time.Time{}
	case d.blamed.IsZero():
		d.blamed = o.now
	}
}

// forgive moves every deadline by the time in which this process did not run:
// paused, starved of CPU, or collecting garbage. What came in the meantime
// waits in the kernel's buffers and will be seen now. After a suspended machine
// or a set clock, when the time since the last look differs by the monotonic
// clock (gap) and the wall clock, nothing is known of the server's phase either.
func (s *state) forgive(now time.Time, gap, wall time.Duration) {
	if parted(gap, wall) {
		s.phase, s.slipped = unknownPhase(now), now
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
	s.awoke = now
	if s.pending != nil {
		s.pending.postpone(late)
	}
	s.away += late
	s.owed.postpone(late)
	s.audits.postpone(late)
	if !s.cutSince.IsZero() {
		s.cutSince = s.cutSince.Add(late)
	}
	if d := s.doubt; d != nil {
		d.since = d.since.Add(late)
		if !d.blamed.IsZero() {
			d.blamed = d.blamed.Add(late)
		}
		if !d.arrived.IsZero() {
			d.arrived = d.arrived.Add(late)
		}
		d.verifyBy = d.verifyBy.Add(late)
		d.nextProbe = d.nextProbe.Add(late)
	}
}

// parted tells whether this much monotonic and this much wall time are not the same.
func parted(gap, wall time.Duration) bool { return (wall - gap).Abs() > clockSlip }

// bound is the staleness bound: how old the newest proof is. Where wall and
// monotonic time disagree, as after a suspended machine, the longer counts.
func (s *state) bound(now time.Time) time.Duration {
	return max(now.Sub(s.freshAsOf), now.Round(0).Sub(s.freshAsOf.Round(0)))
}

// verdict gathers the evidence for judge.
func (s *state) verdict(now time.Time) Verdict {
	if s.misled {
		return Blind
	}
	e := evidence{synced: s.synced, proven: !s.freshAsOf.IsZero(), read: s.read, follows: s.follows()}
	// What differs while nothing can be proven is what the API server lacks itself.
	differs := len(s.audits.diverged) > 0
	e.follows, e.diverged = e.follows || differs, differs && s.doubt == nil
	if e.proven {
		e.bound = s.bound(now)
	}
	// As long as the delay can be explained, the watch is renewed to prove it, and
	// nothing is suspected yet.
	if d := s.doubt; d != nil && (d.convicts() || d.server == ServerLate || d.server == ServerFrozen) {
		e.overdue, e.conclusive, e.server = true, d.convicts(), d.server
	}
	if s.down != readOK { // no stream can be opened: not the stream's fault
		e.read, e.conclusive = s.down, false
	}
	return judge(e, s.maxStaleness)
}

// stalledFor is how long the stream has been to blame while every allowed cure
// was tried, up to the last look: the time in which a paused process could not
// cure anything does not count.
func (s *state) stalledFor() time.Duration {
	d := s.doubt
	if d == nil || d.blamed.IsZero() || d.ladder.tried < len(s.rungsFor(d)) && !d.stuck {
		return 0 // no cure is for a store that blocks
	}
	return s.swept.Sub(d.blamed)
}

// follows tells whether the API server's watch cache has to move: it has moved for writes
// to other kinds before, or what it lacks is a write to this one.
func (s *state) follows() bool { return s.bookmarks || s.doubt != nil && s.doubt.owed }

// frozen tells whether the API server's own watch cache stands still behind what is
// overdue.
func (s *state) frozen() bool { return s.doubt != nil && s.doubt.server == ServerFrozen }

// jitter is a duration below most, another for each informer and moment.
func (s *state) jitter(now time.Time, most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return time.Duration(rand.New(rand.NewPCG(s.salt, uint64(now.UnixNano()))).Int64N(int64(most))) //nolint:gosec // no secret
}

func (s *state) emit(e Event) { s.events = append(s.events, e) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
