// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// owedPatience is how long the event of a write of this process's own may take.
// kube-apiserver delivers it within milliseconds; the rest is for one that is
// busy, and for a client that reads slowly.
const owedPatience = 5 * time.Second

// owed is the oldest write of this process whose event has not come. It is no
// proof, since nobody knows what else was committed before it, but it is owed:
// its absence is a reason to look.
type owed struct {
	rv    string
	since time.Time   // zero: nothing is owed
	older func() bool // whether the store still has the object as it was before
}

func (w *owed) postpone(d time.Duration) {
	if !w.since.IsZero() {
		w.since = w.since.Add(d)
	}
}

// owe notes that the event of a write, or a later one, has to come. Only the
// oldest is remembered: its absence says all that later ones could.
func (s *state) owe(now time.Time, rv string, older func() bool) {
	if s.owed.since.IsZero() && comparableRV(rv) {
		s.owed = owed{rv: rv, since: now, older: older}
	}
}

// collect looks whether the stream has brought what is owed, and suspects it if
// that is late. Such a doubt has no moment of its own: cleared, it proves nothing
// more than was proven.
func (s *state) collect(o observation) {
	w := s.owed
	switch {
	case w.since.IsZero():
		return
	case reached(o.stored, w.rv):
		s.owed = owed{}
		if w.older() {
			s.suspectContents(o.now) // the stream has moved past it, and not brought it
		}
		return
	case reached(o.reflected, w.rv):
		return // the stream has brought something that the store has yet to take
	case s.doubt != nil || o.now.Sub(w.since) < owedPatience || !o.stream.open || s.opening(o):
		return
	}
	s.owed = owed{}
	s.doubt = &doubt{
		raised: o.now, since: o.now, proof: proof{at: s.freshAsOf, rv: w.rv}, ladder: newLadder(), nextProbe: o.now,
		// A stream that was there when the write was made, and still is, has lost it, once
		// the API server has had it for a while.
		owed: !o.stream.answered.IsZero() && o.stream.answered.Before(w.since),
	}
}
