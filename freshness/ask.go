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
	conn           string // the connection that it came on; empty: unknown
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
		a.state, a.err = readBlind, fmt.Errorf("%w: %q (API server) and %q (store)", errNotComparable, a.rv, a.stored)
	}
	s.note(a)
	if a.err != nil {
		s.emit(Event{Time: a.received, Type: ReadFailed, Cause: diagnose(a.err).name(), Reason: diagnose(a.err).explain(a.err)})
		s.readSoon = a.received.Add(retryRead)
		if a.state == readBlind {
			s.readSoon = a.received.Add(bookmarkLatest) // repeating it does not help
		}
		return
	}
	s.goodRead, s.goodConn = a.received, a.conn
	s.latency = (3*s.latency + a.received.Sub(a.sent)) / 4
	s.emit(Event{Time: a.received, Type: Read, ResourceVersion: a.rv})
	if !reached(a.rv, a.stored) {
		s.onWentBack(a)
		return
	}
	s.wentBack = false
	if d := s.doubt; d != nil && d.back {
		s.dismiss(a.received)
	}
	p := newProof(a.sent, a.received, a.rv, s.phase, s.stream, s.patienceFor(a.received))
	p.elsewhere = a.conn != s.conn
	s.expect(p)
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
	s.owed = owed{} // it may never come
	s.readSoon = a.received.Add(confirmGap)
	if !s.wentBack {
		s.wentBack = true
		return
	}
	if s.doubt == nil || !s.doubt.back {
		s.doubt = &doubt{raised: a.received, since: a.received, back: true, conclusive: true, ladder: newLadder()}
	}
	s.doubt.server, s.doubt.answered = ServerReached, true
	s.doubt.proof.rv = a.rv
}

// frozenAfter is how long a watch cache stands at one place before it is called
// frozen. One that is late by seconds, of a kind that nobody writes, stands, too.
const frozenAfter = 2*retryRead - time.Second

// onProbe takes the server's answer to where its watch cache stands. Behind the
// overdue resourceVersion for frozenAfter, at the same place, by the same server, with
// reads in between that make a living cache catch up: frozen.
func (s *state) onProbe(a answer) {
	d := s.doubt
	if d == nil || a.sent.Before(d.raised) {
		return // asked for an earlier doubt
	}
	d.probing, d.answered = false, a.err == nil
	s.note(a)
	defer func() {
		e := Event{Time: a.received, Type: ServerAsked, ResourceVersion: a.rv, Server: d.server, SameConnection: a.conn != "" && a.conn == s.conn}
		if a.err != nil {
			e.Reason = diagnose(a.err).explain(a.err)
		}
		s.emit(e)
	}()
	last := d.late
	switch {
	case a.err != nil:
		d.server, d.nextProbe = ServerUnknown, a.received.Add(retryRead)
		return
	case reached(a.rv, d.proof.rv):
		d.server, d.reachedAt, d.reachedConn = ServerReached, a.received, a.conn
		if a.conn != s.conn && !d.verified { // perhaps another API server, which has what the stream's has not
			d.conclusive, d.owed = false, false
		}
		return
	case a.rv == last.rv && (d.server == ServerFrozen || a.conn == last.conn && s.goodConn == a.conn && s.goodRead.After(last.sent)):
		if d.server == ServerFrozen || a.sent.Sub(last.sent) >= frozenAfter {
			d.server = ServerFrozen
		} else {
			s.readSoon = a.received.Add(retryRead / 2)
		}
		if d.server == ServerFrozen && !s.follows() && a.rv != a.stored && reached(a.rv, a.stored) {
			// It does not follow other kinds, and still has something that the stream has not
			// brought. That is what to wait for; it proves no moment.
			d.proof = proof{at: s.freshAsOf, rv: a.rv}
			d.server, d.reachedAt, d.reachedConn = ServerReached, a.received, a.conn
		}
	default:
		d.server, d.late = ServerLate, a
		s.readSoon = a.received.Add(retryRead / 2)
	}
	// Late or frozen, it explains what the informer lacks: the stream is innocent.
	d.conclusive, d.nextProbe = false, a.received.Add(retryRead)
}

// note remembers how reads end, and whether they come over the stream's connection.
func (s *state) note(a answer) {
	s.counters.reads++
	if a.err != nil {
		s.counters.failedReads++
	}
	s.read, s.readErr = a.state, a.err
	s.shares = s.shares || a.err == nil && a.conn != "" && a.conn == s.conn
}
