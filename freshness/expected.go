// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// expectedGrace is how long an expected informer may be absent: a start takes time,
// and so does one that is removed and made anew.
const expectedGrace = time.Minute

// absence is an expected informer while it does not run.
type absence struct {
	name  Informer
	since time.Time
	told  bool
}

// absentReason says what may be wrong. The caller holds the lock.
func (m *Monitor) absentReason() string {
	return "an informer of this kind is expected, and none runs: nothing has asked for it, it was removed or never started, or the name is another (monitored: " + m.names() + ")"
}

// miss notes which of the expected informers run. The caller holds the lock.
func (m *Monitor) miss(now time.Time) {
	for i := range m.absences {
		a := &m.absences[i]
		switch absent := !m.runs(a.name); {
		case !absent && a.told:
			m.events = append(m.events, Event{Time: now, Informer: a.name, Type: VerdictChanged, Verdict: Syncing, Previous: Blind, Reason: "the expected informer runs"})
			a.since, a.told = time.Time{}, false
		case !absent:
			a.since = time.Time{}
		case a.since.IsZero():
			a.since = now
		case !a.told && now.Sub(a.since) >= expectedGrace:
			a.told = true
			m.events = append(m.events, Event{Time: now, Informer: a.name, Type: VerdictChanged, Verdict: Blind, Previous: Syncing, Reason: m.absentReason()})
		}
	}
}

// runs tells whether an informer of that name has asked the API server for
// something, and has not stopped.
func (m *Monitor) runs(of Informer) bool {
	for _, t := range m.informers {
		if of.covers(t.name()) && !t.informer.IsStopped() && t.lw.asked() {
			return true
		}
	}
	return false
}

// absent are the statuses of the expected informers that do not run.
func (m *Monitor) absent() (out []Status) {
	for _, a := range m.absences {
		if a.told {
			out = append(out, Status{Informer: a.name, Verdict: Blind, Reason: m.absentReason(), Since: a.since, Cures: map[Rung]uint64{}, ProvenCures: map[Rung]uint64{}})
		}
	}
	return out
}
