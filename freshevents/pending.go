// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"time"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

const (
	// gather is for how long what happens is gathered before it is written: what strikes
	// several informers does so within seconds of each other.
	gather = 10 * time.Second
	// repeat lies between two Events of one reason, at least.
	repeat = time.Minute
	// burst is how many Events may follow each other, of all reasons together, and refill
	// what it takes until one more may.
	burst  = 10
	refill = time.Minute
)

// pending is what is to be written: at most one note of each reason, so that its memory is
// bounded, and nothing has to be thrown away. Whoever uses it has a lock.
type pending struct {
	notes [len(reasonNames)]*note
	added [len(reasonNames)]time.Time // when the note was begun
	wrote [len(reasonNames)]time.Time // when the last Event was begun; zero: never
	rate  flowcontrol.PassiveRateLimiter
}

func newPending(c clock.PassiveClock) *pending {
	return &pending{rate: flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(1/float32(refill.Seconds()), burst, c)}
}

func (p *pending) add(now time.Time, n note) {
	if had := p.notes[n.reason]; had != nil {
		had.add(n)
		return
	}
	p.notes[n.reason], p.added[n.reason] = &n, now
}

// withdraw takes back what was not written yet, and tells whether there was something.
func (p *pending) withdraw(r Reason) bool {
	had := p.notes[r] != nil
	p.notes[r] = nil
	return had
}

// next takes the note that is to be written now, if one is: of those whose time has come,
// the one that has waited longest, so that each has its turn.
func (p *pending) next(now time.Time) (note, bool) {
	next := -1
	for r, n := range p.notes {
		if n == nil || now.Sub(p.added[r]) < gather || !p.wrote[r].IsZero() && now.Sub(p.wrote[r]) < repeat {
			continue
		}
		if next < 0 || p.added[r].Before(p.added[next]) {
			next = r
		}
	}
	if next < 0 || !p.rate.TryAccept() {
		return note{}, false
	}
	return p.take(Reason(next), now), true
}

// rest takes a note, whether its time has come or not: there will be no other.
func (p *pending) rest(now time.Time) (note, bool) {
	for r, n := range p.notes {
		if n != nil {
			return p.take(Reason(r), now), true
		}
	}
	return note{}, false
}

func (p *pending) take(r Reason, now time.Time) note {
	n := *p.notes[r]
	p.notes[r], p.wrote[r] = nil, now
	return n
}
