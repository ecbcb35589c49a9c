// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"slices"
	"time"
)

const (
	// reflectorBackoff is the longest that a reflector waits before it tries again
	// (client-go 0.37: 30 s, and as much again of jitter), and some more.
	reflectorBackoff = 65 * time.Second
	// insistAfter is how long a stream may take to end once its context has.
	insistAfter = time.Second
	// relistMemory is for how long a relist that helped makes the next stall suspect.
	relistMemory = 5 * time.Minute
)

// heal climbs the ladder while a doubt lasts. Nothing is cured before the API
// server has said that it has what the informer lacks, nor while a list is
// under way, nor when the stream is ahead and only the store lags.
func (s *state) heal(o observation) []action {
	d := s.doubt
	switch {
	case d == nil:
		return nil
	case o.stream.listing || s.opening(o):
		return s.cutEndlessStream(o)
	case o.stream.open && o.stream.cut:
		return nil // the reflector has yet to come back from it
	case !o.stream.open:
		// The reflector waits before it tries again, and there is nothing to end. A
		// cure gets its time once there is. Should the reflector never come back,
		// something in this process holds it.
		d.verifyBy = latest(d.verifyBy, o.now.Add(patience(d.cure)))
		if o.now.Sub(latest(o.stream.ended, o.stream.tried)) > 2*reflectorBackoff+s.away {
			s.convictProcess(o.now)
		}
		return nil
	case d.curing && !s.gaveUp(o):
		return nil
	case d.server != ServerReached || !d.answered:
		return append(s.move(o), s.askServer(o)...)
	case d.early(o.now), !d.back && reached(o.reflected, d.proof.rv):
		return nil
	}
	d.conclusive = d.conclusive || d.owed
	rungs := s.rungsFor(d)
	if len(rungs) == 0 && o.now.Sub(d.since) > longestProof {
		d.conclusive = true // nothing may be renewed, but a whole period has passed
	}
	rung, ok := d.ladder.climb(o.now, rungs)
	if !ok {
		return nil
	}
	if o.stream.initial && o.reflected == s.atStart {
		s.syncTook = max(s.syncTook, min(o.now.Sub(o.stream.began), s.syncTimeout/6)) // they may just take longer now
	}
	acts := []action{s.startCure(o.now, rung)}
	if !s.reading && !d.back && !s.noBookmarks {
		// Ask again: the short watch's bookmark then proves this very moment.
		acts = append(acts, s.startRead(o.now))
	}
	return acts
}

// gaveUp tells whether the cure under way has had its time, which counts from
// when the server accepted the watch that has to prove it. A watch that it did
// not accept, or that somebody else ended before its bookmark, has told nothing,
// and is tried again.
func (s *state) gaveUp(o observation) bool {
	d := s.doubt
	accepted := func(i streamInfo) bool {
		return !i.answered.IsZero() && !i.began.Before(s.curedAt) && (i.short || !d.cure.resumes())
	}
	if o.stream.short && accepted(o.stream) {
		d.verifyBy = latest(d.verifyBy, o.stream.answered.Add(patience(Resume)))
	}
	cutShort := d.cure.resumes() && accepted(o.previous) && o.previous.endedEarly()
	if !cutShort && o.now.Before(d.verifyBy) {
		return false
	}
	d.curing = false
	verifier := o.previous
	if !accepted(verifier) {
		verifier = o.stream
	}
	// Where one connection carries all, two of them may lead to two API servers.
	moved := s.shares && d.cure.resumes() && verifier.conn != d.reachedConn
	untold := cutShort || moved || !accepted(o.stream) && !accepted(o.previous) ||
		// Where no bookmark was ever seen, only a watch that does not even end tells.
		d.cure.resumes() && !s.bookmarks && !accepted(o.stream)
	if untold && d.retries < maxRetries {
		d.retries++
		if verifier.conn != d.reachedConn { // the server has to be asked again, which may be another by now
			d.answered, d.nextProbe = d.back, o.now
		}
		d.ladder.tried = max(0, d.ladder.tried-1)
		return true
	}
	d.verified = d.verified || !untold && d.server == ServerReached // a renewed watch did not bring it either
	d.conclusive = d.conclusive || d.verified
	d.answered, d.nextProbe = d.back, o.now
	if !d.renewal {
		s.emit(Event{Time: o.now, Type: CureFailed, Cure: d.cure})
	}
	return true
}

// askServer asks where the server's watch cache stands, once the time has come.
func (s *state) askServer(o observation) []action {
	d := s.doubt
	if d.probing || o.now.Before(d.nextProbe) {
		return nil
	}
	d.probing = true
	return []action{{kind: actProbe}}
}

// cutEndlessStream ends a stream of initial events that does not end itself,
// and tells the reflector to LIST instead.
func (s *state) cutEndlessStream(o observation) []action {
	if !o.stream.initial || !o.stream.open || o.stream.cut || o.now.Sub(o.stream.began) < s.syncTimeout || !slices.Contains(s.cures, List) {
		return nil
	}
	return []action{s.startCure(o.now, List)}
}

// startCure notes a cure and returns it. As long as nobody is convicted, to resume is
// only to renew the watch, so that its bookmark can be expected.
func (s *state) startCure(now time.Time, r Rung) action {
	d := s.doubt
	s.lastCure, s.curedAt = r, now
	if d != nil {
		d.cure, d.curing, d.verifyBy = r, true, now.Add(patience(r))
		d.renewal = r == Resume && !d.convicts()
	}
	if d != nil && d.renewal {
		s.renew(now, d.proof.rv)
		return action{kind: actCure, rung: r}
	}
	s.counters.cures[r]++
	s.emit(Event{Time: now, Type: CureStarted, Cure: r})
	return action{kind: actCure, rung: r}
}

// insist repeats a cure whose stream did not end: its client does not look at
// contexts, and has to be told in another way.
func (s *state) insist(o observation) []action {
	if !o.stream.open || !o.stream.cut {
		s.cutSince = time.Time{}
		return nil
	}
	if s.cutSince.IsZero() || o.stored != s.stored { // it may not end, and live
		s.cutSince = o.now
	}
	if o.now.Sub(s.cutSince) >= 2*storePatience && !o.stream.answered.IsZero() { // or it waits for an API server that is down
		s.convictProcess(o.now)
	}
	if o.now.Sub(s.curedAt) < insistAfter {
		return nil
	}
	s.curedAt = o.now
	return []action{{kind: actCure, rung: s.lastCure}}
}

// convictProcess notes that the reflector does not come back to a stream that has
// long ended: whatever the API server has, something in this process blocks it.
func (s *state) convictProcess(now time.Time) {
	if s.doubt == nil {
		s.doubt = &doubt{raised: now, since: now, proof: proof{at: s.freshAsOf, rv: s.provenRV}, ladder: newLadder(), process: true}
	}
	d := s.doubt
	d.server, d.stuck = ServerReached, true
	if d.blamed.IsZero() {
		d.blamed = now
	}
}

// rungsFor returns the allowed cures that can help, in order. Resuming from a
// resourceVersion that the server no longer knows cannot. Where most informers
// stall together, or a stream is dead again soon after a relist, it is the path:
// new connections come before another list.
func (s *state) rungsFor(d *doubt) []Rung {
	if d.back {
		return slices.DeleteFunc(slices.Clone(s.cures), Rung.resumes)
	}
	relapse := !s.relisted.IsZero() && d.since.Sub(s.relisted) < relistMemory
	if i := slices.Index(s.cures, Reconnect); i > 1 && (s.crowd || relapse) {
		return slices.Insert(slices.Delete(slices.Clone(s.cures), i, i+1), 1, Reconnect)
	}
	return s.cures
}
