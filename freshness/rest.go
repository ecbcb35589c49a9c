// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// rest is how long an informer for which nothing is due is not looked at. What
// happens to it meanwhile, such as the end of its watch, is seen that much later, and
// makes what is told by looks that much less certain, which is allowed for. Nearly
// all informers rest nearly always: looks are what a monitor of a thousand costs
// beside its requests.
const rest = 2 * time.Second

// restsUntil returns when an informer that was looked at has to be looked at again.
// The zero time is at once.
func (t *tracked) restsUntil(o observation) time.Time {
	if len(t.handlers) > 0 {
		return time.Time{}
	}
	return t.state.restsUntil(o)
}

func (s *state) restsUntil(o observation) time.Time {
	due := s.due(o)
	if due.IsZero() || s.reading || s.pending != nil || s.period() < bookmarkLatest { // to be timed as exactly as can be
		return time.Time{}
	}
	return earliest(due, o.now.Add(rest))
}

// disturbed tells whether this process did not run since the last look, or its clocks
// have parted. Then nobody rests.
func (m *Monitor) disturbed(now time.Time) bool {
	gap, wall := now.Sub(m.swept), now.Round(0).Sub(m.swept.Round(0))
	m.swept = now
	return gap > 2*tick || parted(gap, wall)
}

// due returns the first moment at which the state may do something though nothing has
// happened to its informer. The zero time is at once.
func (s *state) due(o observation) time.Time {
	if !s.calm(o) {
		return time.Time{}
	}
	at := s.phase.next().to.Add(1) // when the next one is planned
	if !s.reading {
		at = earliest(at, s.nextRead, s.readSoon)
	}
	if s.auditEvery > 0 && !s.audits.running {
		at = earliest(at, s.audits.next)
	}
	if s.pending != nil {
		at = earliest(at, s.pending.due.Add(1))
	}
	return earliest(at, s.ages(o.now))
}

// calm tells whether there is nothing but time to wait for.
func (s *state) calm(o observation) bool {
	a, r := &s.audits, s.renewal
	switch {
	case !s.synced, s.doubt != nil, !s.owed.since.IsZero(), s.wantsMore(), s.read == readBlind, s.spreadWanted:
		return false
	case !o.stream.open, o.stream.cut, o.stream.listing, s.opening(o), s.wasOpening:
		return false
	case !r.at.IsZero() && o.now.Sub(o.stream.answered) <= atOnce: // see redeem
		return false
	case s.auditEvery > 0 && !a.running && (a.next.IsZero() || len(a.diverged) > 0):
		return false
	}
	return true
}

// ages is when the newest proof will be too old: to be left at that, or altogether.
// The zero time is never.
func (s *state) ages(now time.Time) time.Time {
	switch {
	case s.freshAsOf.IsZero(), s.bound(now) > s.maxStaleness:
		return time.Time{} // it is, already
	case s.period() < bookmarkLatest:
		return s.freshAsOf.Add(s.period())
	}
	return s.freshAsOf.Add(s.maxStaleness + 1)
}

// earliest returns the first of these times, those that are zero left aside.
func earliest(at time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}
