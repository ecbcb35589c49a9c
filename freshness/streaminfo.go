// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// streamInfo describes one watch of an informer.
type streamInfo struct {
	id         uint64
	open       bool
	initial    bool          // asked for initial events: a list and a watch in one
	consistent bool          // those as of now, not of some earlier moment
	short      bool          // a watch that has to prove a cure
	cut        bool          // ended by us
	listing    bool          // a LIST is under way
	tried      time.Time     // the last list or watch was begun
	conn       string        // the connection it is on; empty: unknown
	ends       ends          // of that
	began      time.Time     // the request was about to be sent
	answered   time.Time     // its headers came; zero: not yet
	timeout    time.Duration // asked of the server; zero: none
	ended      time.Time     // the reflector let go of it
}

// start is when the server took up the watch.
func (s streamInfo) start(now time.Time) window {
	if s.answered.IsZero() {
		return window{s.began, now}
	}
	return window{s.began, s.answered}
}

// deadline is when the server ends it.
func (s streamInfo) deadline(now time.Time) window {
	if s.timeout == 0 {
		return window{}
	}
	w := s.start(now)
	return window{w.from.Add(s.timeout), w.to.Add(s.timeout)}
}

// endedInTime tells whether the server ended a short watch when it was due.
// away is for how long this process did not run meanwhile.
func (s streamInfo) endedInTime(away time.Duration) bool {
	d := s.deadline(s.ended)
	return s.short && !s.open && !s.cut && !s.answered.IsZero() &&
		!s.ended.Before(d.from.Add(-time.Second)) && !s.ended.After(d.to.Add(verifySlack+away))
}

// endedEarly tells whether somebody else ended a watch that had to prove a cure
// before its bookmark was due.
func (s streamInfo) endedEarly() bool {
	return s.short && !s.open && !s.cut && s.ended.Before(s.deadline(s.ended).from.Add(-pretimeoutAtLast))
}
