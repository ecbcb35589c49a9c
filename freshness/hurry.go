// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"slices"
	"time"
)

// want asks for a proof that the cache holds everything committed before at.
func (s *state) want(at time.Time) { s.wanted = latest(s.wanted, at) }

// wantsMore tells whether a proof is asked for that is not there yet.
func (s *state) wantsMore() bool { return s.wanted.After(s.freshAsOf) }

// period is how old a proof may get before another is begun, bookmark or not, so
// that a renewed watch can still bring it within MaxStaleness.
func (s *state) period() time.Duration { return s.maxStaleness - renewalTime - verifySlack }

// matureAfter is how old a watch has to be before it is renewed. A reflector lists
// everything again after one that lasted for less than a second without an event,
// counted from the end of its initial events (client-go 0.37, VeryShortWatchError).
const matureAfter = 3 * time.Second

// renewable tells whether there is a watch that can be renewed.
func (s *state) renewable(o observation) bool {
	return o.stream.open && !o.stream.listing && !s.opening(o) && o.now.Sub(s.begunAt) >= matureAfter && slices.Contains(s.cures, Resume)
}

// hurry brings a proof forward that somebody waits for, or that a MaxStaleness
// shorter than the bookmarks' period needs. It is begun at once, and a quiet
// informer's watch is renewed to have its bookmark within seconds. That is no
// suspicion; one begins when that bookmark is overdue, too.
func (s *state) hurry(o observation) []action {
	if !s.wantsMore() && s.period() < bookmarkLatest && !s.freshAsOf.IsZero() && s.bound(o.now) >= s.period() {
		s.want(o.now)
	}
	if !s.wantsMore() || s.doubt != nil {
		return nil
	}
	p := s.pending
	if p == nil || p.at.Before(s.wanted) {
		p = s.newer
	}
	switch {
	case p == nil || p.at.Before(s.wanted):
		if !s.reading && s.read == readOK {
			s.readSoon = o.now // after a failed read the next keeps its distance, whoever waits
		}
		return nil
	case p.renewed, o.now.Sub(p.answered) < s.tick, !s.renewable(o):
		return nil // on its way, perhaps with the next event; or not to be hurried
	}
	if p == s.newer {
		s.pending, s.newer = p, nil // the older one is proven with it
	}
	p.renewed = true
	p.limit = o.now.Add(patience(Resume) + renewalTime)
	p.due = p.limit
	s.renew(o.now, p.rv)
	return []action{{kind: actCure, rung: Resume}}
}

// renew notes that the watch is renewed. What the API server had committed by rv, the
// one before it should have brought.
func (s *state) renew(now time.Time, rv string) {
	s.counters.renewals++
	s.curedAt, s.lastCure = now, Resume
	if s.stored == s.reflected {
		s.renewal = renewal{at: now, rv: rv}
	}
}

// renewal is a watch that was renewed to have a proof, while nobody suspected the one
// before it.
type renewal struct {
	at time.Time
	rv string
}

// atOnce is how soon a renewed watch brings what the API server had before it: not
// yet the bookmark of a short one.
const atOnce = 2 * time.Second

// redeem looks whether a renewed watch brings, at once, an event that the one before
// it owed. Then that one was dead, and the renewal has cured it.
func (s *state) redeem(o observation) {
	r := s.renewal
	if r.at.IsZero() || o.stored == s.stored || o.stream.began.Before(r.at) || o.stream.answered.IsZero() {
		return
	}
	s.renewal = renewal{}
	if o.now.Sub(o.stream.answered) > atOnce || !reached(r.rv, o.stored) || !o.byEvent(o.stored) {
		return
	}
	s.counters.cures[Resume]++
	s.emit(Event{Time: r.at, Type: CureStarted, Cure: Resume})
	s.proveCure(o.now, Resume)
}
