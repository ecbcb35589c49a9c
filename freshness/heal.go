// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"slices"
	"time"
)

// heal climbs the ladder while a doubt lasts. Nothing is cured before the API
// server has said that it has what the informer lacks, nor while a list is
// under way, nor when the stream is ahead and only the store lags.
func (s *state) heal(o observation) []action {
	d := s.doubt
	switch {
	case d == nil:
		return nil
	case o.stream.listing || o.inInitial():
		return s.cutEndlessStream(o)
	case d.curing && !s.gaveUp(o):
		return nil
	case d.server != serverReached || !d.answered:
		return s.askServer(o)
	case !d.back && reached(o.reflected, d.proof.rv):
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

// gaveUp tells whether the cure under way has had its time. A short watch that
// somebody else ended before its bookmark has told nothing, and is tried again.
func (s *state) gaveUp(o observation) bool {
	d := s.doubt
	cutShort := d.cure == Resume && !o.previous.began.Before(d.curedAt) && o.previous.endedEarly()
	switch {
	case cutShort && d.retries < maxRetries:
		d.retries++
		d.ladder.tried--
		d.curing = false
	case o.now.Before(d.verifyBy):
		return false
	default:
		d.curing = false
		d.conclusive = true // a renewed watch did not bring it either
		d.answered, d.nextProbe = d.back, o.now
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
