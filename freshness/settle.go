// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// drainTime is what it takes to see what came while this process did not run.
const drainTime = 5 * time.Second

// settle looks whether the store has reached what it was asked for.
func (s *state) settle(o observation) {
	if d := s.doubt; d != nil && !d.back && reached(o.stored, d.proof.rv) && (!d.process || s.cutSince.IsZero() || o.stored != s.stored) {
		if s.byBookmark(o) {
			s.noBookmarks, s.bookmarked = false, o.now
		}
		s.clear(o.now)
	}
	for _, p := range []*proof{s.pending, s.newer} {
		if p != nil && p.arrived == (window{}) && reached(o.reflected, p.rv) {
			p.arrived = window{s.looked, o.now} // the store may take its time
		}
	}
	for p := s.pending; p != nil && reached(o.stored, p.rv); p = s.pending {
		if s.doubt == nil && o.stored != s.stored && !p.capped() && s.byBookmark(o) {
			s.bookmarks, s.noBookmarks, s.bookmarked = true, false, o.now
			if o.now.Sub(s.awoke) > drainTime { // or it may have come long before
				s.phase = s.phase.observe(p.arrived.from, p.arrived.to)
			}
		}
		s.pending, s.newer = s.newer, nil
		s.prove(o.now, p.at, p.rv)
		if s.pending != nil {
			s.pending.hasten(o.now.Add(s.patienceFor(o.now))) // there is a bound to keep now
		}
	}
	if p := s.pending; p != nil && s.doubt == nil && o.now.After(p.due) {
		s.doubt = &doubt{
			raised: o.now, since: o.now, proof: *p, ladder: newLadder(), nextProbe: o.now,
			conclusive: s.bookmarks && !s.noBookmarks && !p.capped() && !p.elsewhere && p.cached() &&
				o.stream.open && !s.opening(o) && p.stream == o.stream.id,
		}
		s.pending, s.newer = s.newer, nil
	}
}

// byBookmark tells whether what the store was brought to came as a bookmark: neither as
// an event, nor with a list.
func (s *state) byBookmark(o observation) bool {
	return o.stream.open && !o.stream.listing && !s.beginning && !o.byEvent(o.stored)
}

// expect adds a proof to those outstanding.
func (s *state) expect(p *proof) {
	if s.pending == nil {
		s.pending = p
		return
	}
	s.newer = p
}

// prove moves freshAsOf forward: the store has reached rv, where that is known.
func (s *state) prove(now, at time.Time, rv string) {
	s.counters.proofs++
	if at.After(s.freshAsOf) {
		s.freshAsOf, s.provenRV = at, rv
	}
	s.emit(Event{Time: now, Type: Proven, FreshAsOf: s.freshAsOf})
}

// clear ends a doubt whose proof has been reached, and asks for the next proof
// at once, while the cure's short watch is open.
func (s *state) clear(now time.Time) {
	p := s.doubt.proof
	s.dismiss(now)
	s.prove(now, p.at, p.rv)
	if s.pending == nil {
		s.readSoon = now
	}
}

// dismiss ends a doubt.
func (s *state) dismiss(now time.Time) {
	d := s.doubt
	if d.curing && !d.renewal {
		s.proveCure(now, d.cure)
	}
	s.doubt = nil
	if a := &s.audits; len(a.diverged) > 0 && d.counted {
		a.diverged, a.suspects = nil, nil // it may have been what the doubt was about
		s.auditSoon(now)
	}
}

func (s *state) proveCure(now time.Time, r Rung) {
	s.counters.provenCures[r]++
	if !r.resumes() {
		s.relisted = now
	}
	s.emit(Event{Time: now, Type: CureProven, Cure: r})
}
