// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"fmt"
	"time"
)

// answer is how one read of the API server ended.
type answer struct {
	sent, received time.Time
	stored         string // the store's resourceVersion before sending
	rv             string // what the server answered
	state          readState
	err            error
}

// ask starts the read that is due.
func (s *state) ask(o observation) []action {
	due := func(at time.Time) bool { return !at.IsZero() && !o.now.Before(at) }
	if s.reading || !due(s.nextRead) && !due(s.readSoon) {
		return nil
	}
	return []action{s.startRead(o.now)}
}

// startRead notes a read and returns it. One that comes within seconds of the
// planned one takes its place.
func (s *state) startRead(now time.Time) action {
	s.reading, s.readSoon = true, time.Time{}
	if now.Add(retryRead).After(s.nextRead) {
		s.nextRead = time.Time{}
	}
	return action{kind: actRead}
}

// onRead takes the answer to a consistent LIST.
func (s *state) onRead(a answer) {
	s.reading, s.lastRead = false, a.received
	if a.err == nil && !(comparableRV(a.rv) && comparableRV(a.stored)) {
		a.state, a.err = readBlind, fmt.Errorf("resourceVersions %q (API server) and %q (store) do not compare", a.rv, a.stored)
	}
	s.note(a)
	if a.err != nil {
		s.readSoon = a.received.Add(retryRead)
		return
	}
	s.latency = (3*s.latency + a.received.Sub(a.sent)) / 4
	s.emit(Event{Time: a.received, Type: Read, ResourceVersion: a.rv})
	if !reached(a.rv, a.stored) {
		s.onWentBack(a)
		return
	}
	s.wentBack = false
	if d := s.doubt; d != nil && d.back {
		d.proof.at = a.sent
		s.clear(a.received)
	}
	s.expect(newProof(a.sent, a.received, a.rv, s.phase, s.stream, s.patienceFor(a.received)))
}

// patienceFor returns how long a proof begun now may wait for a bookmark: one
// period, but no longer than leaves time to renew the watch and prove it by that
// before the bound exceeds what is allowed.
func (s *state) patienceFor(now time.Time) time.Duration {
	switch {
	case s.noBookmarks:
		return verifySlack
	case s.freshAsOf.IsZero():
		return longestProof // many informers start together: no renewals then
	}
	left := s.maxStaleness - s.bound(now) - renewalTime
	return min(longestProof, max(left, verifySlack))
}

// onWentBack handles a consistent read that is older than what the store held
// before it was sent: etcd was restored from a backup, or replaced. An old,
// larger resourceVersion must never count as proof. Asked twice, since one
// answer may come from a server that is being replaced.
func (s *state) onWentBack(a answer) {
	s.pending, s.newer = nil, nil
	s.readSoon = a.received.Add(confirmGap)
	if !s.wentBack {
		s.wentBack = true
		return
	}
	if s.doubt == nil || !s.doubt.back {
		s.counters.doubts++
		s.doubt = &doubt{since: a.received, back: true, conclusive: true, ladder: newLadder()}
	}
	s.doubt.server, s.doubt.serverRV = serverReached, a.rv
	s.doubt.proof.rv = a.rv
}

// onProbe takes the server's answer to where its watch cache stands. Behind the
// overdue resourceVersion twice, and at the same place: frozen.
func (s *state) onProbe(a answer) {
	d := s.doubt
	if d == nil {
		return
	}
	d.probing, d.answered = false, a.err == nil
	s.note(a)
	switch {
	case a.err != nil:
		d.server, d.nextProbe = serverUnknown, a.received.Add(retryRead)
	case reached(a.rv, d.proof.rv):
		d.server, d.reachedAt = serverReached, a.received
	case a.rv == d.serverRV:
		d.server, d.nextProbe = serverFrozen, a.received.Add(retryRead)
	default:
		d.server, d.serverRV, d.nextProbe = serverLate, a.rv, a.received.Add(retryRead)
	}
}

// note remembers how reads end.
func (s *state) note(a answer) {
	s.counters.reads++
	if a.err != nil {
		s.counters.failedReads++
	}
	s.read, s.readErr = a.state, a.err
}

// heal climbs the ladder while a doubt lasts. Nothing is cured before the API
// server has said that it has what the informer lacks, nor while a list is
// under way, nor when the stream is ahead and only the store lags.
func (s *state) heal(o observation) []action {
	d := s.doubt
	if d == nil {
		return nil
	}
	if o.stream.listing || o.stream.initial && o.reflected == o.stream.startRV {
		return s.cutEndlessStream(o)
	}
	cutShort := d.curing && d.cure == Resume && d.retries < maxRetries &&
		!o.previous.began.Before(d.curedAt) && o.previous.endedEarly()
	if d.curing && o.now.Before(d.verifyBy) && !cutShort {
		return nil
	}
	if cutShort {
		// Somebody ended the watch before its bookmark: that told nothing.
		d.retries++
		d.ladder.tried--
		d.curing = false
	}
	if d.curing {
		d.curing = false
		s.emit(Event{Time: o.now, Type: CureFailed, Cure: d.cure})
		if !d.back {
			d.conclusive = true // a renewed watch did not bring it either
			d.answered, d.nextProbe = false, o.now
		}
	}
	if d.server != serverReached || !d.answered && !d.back {
		if d.probing || o.now.Before(d.nextProbe) {
			return nil
		}
		d.probing = true
		return []action{{kind: actProbe}}
	}
	if !d.back && reached(o.reflected, d.proof.rv) {
		return nil
	}
	rung, ok := d.ladder.climb(o.now, s.rungsFor(d))
	if !ok {
		return nil
	}
	acts := []action{s.startCure(o.now, rung)}
	if !s.reading && !d.back && !s.noBookmarks {
		// Ask again: the short watch's bookmark then proves this very moment.
		acts = append(acts, s.startRead(o.now))
	}
	return acts
}

// startCure notes a cure and returns it.
func (s *state) startCure(now time.Time, r Rung) action {
	s.counters.cures[r]++
	s.emit(Event{Time: now, Type: CureStarted, Cure: r})
	if d := s.doubt; d != nil {
		d.cure, d.curing, d.curedAt, d.verifyBy = r, true, now, now.Add(patience(r))
	}
	return action{kind: actCure, rung: r}
}

// rungsFor returns the allowed cures that can help: resuming from a
// resourceVersion that the server no longer knows cannot.
func (s *state) rungsFor(d *doubt) []Rung {
	if !d.back {
		return s.cures
	}
	var out []Rung
	for _, r := range s.cures {
		if r != Resume {
			out = append(out, r)
		}
	}
	return out
}

// bound is the staleness bound: how old the newest proof is. Where wall and
// monotonic time disagree, as after a suspended machine, the longer counts.
func (s *state) bound(now time.Time) time.Duration {
	return max(now.Sub(s.freshAsOf), now.Round(0).Sub(s.freshAsOf.Round(0)))
}

// verdict gathers the evidence for judge.
func (s *state) verdict(now time.Time) Verdict {
	e := evidence{synced: s.synced, proven: !s.freshAsOf.IsZero(), read: s.read, follows: s.bookmarks}
	if e.proven {
		e.bound = s.bound(now)
	}
	// As long as the delay can be explained, the watch is renewed to prove it, and
	// nothing is suspected yet.
	if d := s.doubt; d != nil && (d.conclusive || d.server == serverLate || d.server == serverFrozen) {
		e.overdue, e.conclusive, e.server = true, d.conclusive, d.server
	}
	return judge(e, s.maxStaleness)
}
