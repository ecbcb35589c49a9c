// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"slices"
	"time"
)

const (
	// auditRetry is how long after an audit that failed the next is made.
	auditRetry = 10 * time.Minute
	// auditBlind is how often an informer that cannot be proven fresh is compared.
	auditBlind = 10 * time.Minute
	// confirmBlind is how long after it such an informer is compared again before a
	// difference is believed.
	confirmBlind = time.Minute
	// auditGap is between audits on suspicion.
	auditGap = 5 * time.Minute
	// refillGap is how long after a relist that did not make contents equal another
	// is tried; doubled each time, up to refillGapMost.
	refillGap     = 5 * time.Minute
	refillGapMost = time.Hour
)

// audits is when the contents of an informer are compared with the API server's,
// and what that has shown.
type audits struct {
	next    time.Time // not before; zero: not planned yet
	after   time.Time // nor with what was proven for an earlier moment
	running bool

	ended    time.Time   // when the last one that came to a result did
	at       time.Time   // and what moment it was about
	failed   time.Time   // when the last one failed
	compared int         // objects in it
	err      error       // of the last
	suspects differences // found once, to be confirmed
	diverged differences // found twice
	refill   time.Time   // no relist for them before
	gap      time.Duration
	refilled bool // one was made, and is to be verified
}

func (a *audits) postpone(d time.Duration) {
	if !a.next.IsZero() {
		a.next = a.next.Add(d)
	}
}

// auditResult is how one audit ended.
type auditResult struct {
	at, received time.Time // of what was compared, and of the end
	objects      int
	found        differences
	err          error
}

// audit begins the comparison that is due. It needs a cache that is proven to hold
// everything up to a resourceVersion, at which the API server is then listed, or
// one of which nothing can be proven.
func (s *state) audit(o observation) []action {
	a := &s.audits
	switch {
	case s.auditEvery == 0 && a.next.IsZero():
		return nil // unless asked for
	case a.next.IsZero():
		a.next = o.now.Add(s.auditEvery/2 + s.jitter(o.now, s.auditEvery/2))
	case s.unprovable() && a.ended.IsZero() && a.next.Sub(o.now) > auditBlind:
		a.next = o.now.Add(s.jitter(o.now, auditBlind))
	}
	ready := s.unprovable() || s.doubt == nil && !s.freshAsOf.Before(a.after) && s.provenRV != ""
	if a.running || !ready || o.now.Before(a.next) || !o.stream.open || o.stream.listing || s.opening(o) {
		return nil
	}
	a.running = true
	return []action{{kind: actAudit}}
}

// unprovable tells whether resourceVersions say nothing about this informer.
func (s *state) unprovable() bool {
	return s.read == readBlind || s.frozen() && !s.follows()
}

// auditSoon asks for a comparison with what will be proven after now.
func (s *state) auditSoon(now time.Time) {
	a := &s.audits
	a.next, a.after = now, now
	s.want(now)
}

// suspectContents asks for an audit because something was seen that does not fit.
func (s *state) suspectContents(now time.Time) {
	if s.auditEvery > 0 && now.Sub(s.audits.ended) > auditGap {
		s.auditSoon(now)
	}
}

// onAudit takes the result of a comparison. What differs is compared once more
// before it is believed.
func (s *state) onAudit(r auditResult) {
	a := &s.audits
	a.running, a.err = false, r.err
	if r.err != nil {
		s.counters.failedAudits++
		a.failed = r.received
		a.next = r.received.Add(auditRetry)
		s.emit(Event{Time: r.received, Type: AuditFailed, Reason: oneLine(r.err)})
		return
	}
	sure := a.suspects.confirmed(r.found)
	if len(r.found) > 0 && len(a.suspects) == 0 {
		a.suspects = r.found
		s.auditSoon(r.received)
		if s.unprovable() { // what is on its way would look the same a moment later
			a.next = r.received.Add(confirmBlind)
		}
		return
	}
	a.suspects = nil // what was not found twice is changing, and looked at the next time
	s.counters.audits++
	a.ended, a.at, a.compared, a.diverged = r.received, r.at, r.objects, sure
	s.emit(Event{Time: r.received, Type: Audited, Objects: r.objects, Diverged: sure.names()})
	if a.refilled {
		s.verified(r.received, len(sure) == 0)
	}
	every := s.auditEvery
	if s.unprovable() {
		every = min(every, auditBlind)
	}
	wanted := a.after.After(r.at) // it was asked for again meanwhile
	a.next = time.Time{}
	switch {
	case wanted:
		a.next = r.received
	case every > 0:
		a.next = r.received.Add(every - every/4 + s.jitter(r.received, every/2))
	}
	if len(sure) > 0 {
		return // repair has the rest
	}
	a.gap, a.refill = 0, time.Time{}
	if s.unprovable() {
		s.prove(r.received, r.at, "")
	}
}

// verified tells how a relist for lost events has ended.
func (s *state) verified(now time.Time, equal bool) {
	s.audits.refilled = false
	if equal {
		s.proveCure(now, Relist)
		return
	}
	s.emit(Event{Time: now, Type: CureFailed, Cure: Relist})
}

// repair relists what has lost events, by a list that does not come from the API
// server's watch cache where that may have lost them itself, and has the result
// compared.
func (s *state) repair(o observation) []action {
	a := &s.audits
	if len(a.diverged) == 0 || a.running || a.refilled || s.doubt != nil || o.now.Before(a.refill) || !o.stream.open || !slices.Contains(s.cures, Relist) {
		return nil
	}
	a.gap = min(max(refillGap, 2*a.gap), refillGapMost)
	a.refill, a.refilled = o.now.Add(a.gap), true
	s.auditSoon(o.now)
	act := s.startCure(o.now, Relist)
	act.exact = true
	return []action{act}
}
