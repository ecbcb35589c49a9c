// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Status is what is known of one informer at one moment.
type Status struct {
	Informer Informer
	Verdict  Verdict
	// Reason is a sentence for a person.
	Reason string
	// Since is when the verdict was reached.
	Since time.Time
	// Behind is the first place on the way to the program's handlers that is known to
	// lag. Handlers may lag while the verdict on the cache is Fresh: Pending is how many
	// notifications wait for handlers that are busy, and Blocked for how long one of
	// them has been, with one notification.
	Behind  Level
	Pending uint64
	Blocked time.Duration
	// FreshAsOf is the latest moment for which the cache is proven to hold every
	// change committed before it; zero while nothing is proven.
	FreshAsOf time.Time
	// Staleness is the staleness bound: now minus FreshAsOf. Zero while nothing
	// is proven.
	Staleness time.Duration
	// Limit is Options.MaxStaleness, beyond which the informer is not Fresh.
	Limit time.Duration
	// ResourceVersion is what reads of the cache are at, and Moved when that was last seen
	// to change, to within two seconds.
	ResourceVersion string
	Moved           time.Time
	// Bookmarked is when a bookmark last proved something, and LastRead when the API server
	// was last read to that end.
	Bookmarked, LastRead time.Time
	// Watch is the newest watch.
	Watch Watch
	// Reads, Proofs, Renewals, Doubts count requests made to prove, proofs that
	// succeeded, watches renewed to have one in time, and proofs that were overdue though a
	// bookmark had been due, or that the API server cannot have brought.
	Reads, Proofs, Renewals, Doubts uint64
	// Audits and FailedAudits count comparisons of contents, Audited is when the last
	// one ended, and Diverged names the objects, as namespace/name, that it has found
	// to differ.
	Audits, FailedAudits uint64
	Audited              time.Time
	Diverged             []string
	// Cures and ProvenCures count what was tried and what helped, by Rung.
	Cures, ProvenCures map[Rung]uint64

	stalledFor time.Duration // see state.stalledFor; zero unless Stalled, or not for Check to fail
}

const notStarted = "the monitor is not started: add it to the manager, or call Start"

// Status returns every informer's status, and that of expected ones which do not
// run, sorted by name. It does no I/O.
func (m *Monitor) Status() []Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	out := make([]Status, 0, len(m.informers))
	for _, t := range m.informers {
		if t.informer.IsStopped() {
			continue // the next look will forget it
		}
		st := t.status(now)
		if !m.started {
			st.Reason = notStarted
		}
		out = append(out, st)
	}
	out = append(out, m.absent()...)
	slices.SortFunc(out, func(a, b Status) int { return cmp.Compare(a.Informer.String(), b.Informer.String()) })
	return out
}

func (t *tracked) status(now time.Time) Status {
	s := &t.state
	v := s.verdict(now)
	st := Status{
		Informer: t.name(), Verdict: v, Reason: t.reason(v, now), Since: t.since,
		Behind: t.behind(), Pending: t.handlers.pending(), Blocked: t.handlers.blocked(),
		FreshAsOf: s.freshAsOf, Limit: s.maxStaleness,
		ResourceVersion: s.stored, Moved: s.moved, Bookmarked: s.bookmarked, LastRead: s.lastRead,
		Reads: s.counters.reads, Proofs: s.counters.proofs, Renewals: s.counters.renewals, Doubts: s.counters.doubts,
		Audits: s.counters.audits, FailedAudits: s.counters.failedAudits, Audited: s.audits.ended, Diverged: s.audits.diverged.names(),
		Cures: map[Rung]uint64{}, ProvenCures: map[Rung]uint64{},
	}
	current, _, _ := t.lw.look()
	st.Watch = current.describe()
	if v != t.verdict {
		st.Since = now
	}
	if !s.freshAsOf.IsZero() {
		st.Staleness = s.bound(now)
	}
	if v == Stalled && !t.spared {
		st.stalledFor = s.stalledFor()
	}
	for r := range rungNames {
		st.Cures[Rung(r)], st.ProvenCures[Rung(r)] = s.counters.cures[r], s.counters.provenCures[r]
	}
	return st
}

// ErrStalled is matched by the error of Check.
var ErrStalled = errors.New("freshness: stalled")

// Check implements controller-runtime's healthz.Checker. It fails while an
// informer is Stalled, every allowed cure was tried, and its stream or its store has
// been to blame for FailAfter; or while a handler, see AddEventHandler, has not
// returned for as long; and for no other reason: not
// while the API server cannot be reached, not while its own watch cache stands
// still, not while an informer syncs. It takes one lock and does no I/O. Use it
// for liveness, never for readiness: a stalled cache still serves webhooks.
//
// The error matches ErrStalled and names each such informer with its verdict,
// bound and limit.
func (m *Monitor) Check(*http.Request) error {
	var failed []string
	for _, st := range m.Status() {
		if st.Blocked >= m.opts.FailAfter {
			failed = append(failed, fmt.Sprintf("%v: a handler has not returned for %v (limit %v), %d notifications wait",
				st.Informer, st.Blocked.Round(time.Second), m.opts.FailAfter, st.Pending))
		}
		if failsLiveness(st.Verdict, st.stalledFor, m.opts.FailAfter) {
			failed = append(failed, fmt.Sprintf("%v: %v for %v (limit %v), fresh as of %v ago",
				st.Informer, st.Verdict, st.stalledFor.Round(time.Second), m.opts.FailAfter, st.Staleness.Round(time.Second)))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrStalled, strings.Join(failed, "; "))
}

// LeaveOutOfCheck has Check pass whatever becomes of an informer's stream, because
// something else decides on restarts for it, as a watchcanary.Canary does for its own
// within a budget. Verdict, cures and metrics stay. The error matches ErrNotMonitored if
// inf was not made by this monitor.
func (m *Monitor) LeaveOutOfCheck(inf EventSource) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.informers {
		if t.is(inf) {
			t.spared = true
			return nil
		}
	}
	return fmt.Errorf("%w: LeaveOutOfCheck wants an informer made by this monitor, got a %T", ErrNotMonitored, inf)
}
