// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// statement is what a monitor says of an informer: that asOf, its store holds
// every change committed before.
type statement struct {
	asked  time.Time     // just before the monitor was
	asOf   time.Time     // Status.FreshAsOf
	bound  time.Duration // Status.Staleness
	proven time.Time     // when asOf became known; zero: as before
}

// claim reads a statement: the moment up to which the store is said to be complete.
type claim struct {
	name string
	asOf func(statement) time.Time
	// subtle: it takes more than a minute and a half of faults to be found out.
	subtle bool
}

// stated is what the monitor claims, by either of its two figures.
var stated = claim{name: "as stated", asOf: func(s statement) time.Time {
	if by := s.asked.Add(-s.bound); by.After(s.asOf) {
		return by
	}
	return s.asOf
}}

// wrong are bounds that observers have to object to.
var wrong = []claim{
	{name: "half the bound", asOf: func(s statement) time.Time { return s.asked.Add(-s.bound / 2) }},
	{name: "too fresh by 5 s", asOf: tooFresh(5 * time.Second)},
	{name: "too fresh by 1 s", asOf: tooFresh(time.Second), subtle: true},
	// A proof dated by its end, not by its beginning: what looks natural, and is wrong.
	{name: "as of the end of the proof", asOf: func(s statement) time.Time { return s.proven }, subtle: true},
}

func tooFresh(by time.Duration) func(statement) time.Time {
	return func(s statement) time.Time { return earliest(s.asked, s.asOf.Add(by)) }
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// observer knows the truth about one informer, and holds claims to it. A
// violation that it reports is certain, since every doubt is in the claim's
// favour: a change counts from when it was acknowledged, and the store is read
// after the claim was made.
type observer struct {
	ledger *ledger
	store  cache.Store

	mu     sync.Mutex
	read   int               // entries of the ledger
	open   []change          // that the store has not been seen to hold
	held   map[string]change // the newest of each object that it has
	proven time.Time         // when the newest proof ended

	samples  int
	oldest   time.Duration // the largest real staleness
	bound    time.Duration // the largest that was stated
	honest   finding
	findings []finding // on the wrong claims
}

// remembered is for how long an object that is gone must not come back.
const remembered = time.Minute

func newObserver(l *ledger, store cache.Store) *observer {
	return &observer{ledger: l, store: store, held: map[string]change{}, findings: make([]finding, len(wrong))}
}

// hear holds a statement to the truth. It is called for each one that the monitor
// makes, and many times in between.
func (o *observer) hear(s statement) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.proven.After(o.proven) {
		o.proven = s.proven
	}
	s.proven = o.proven
	lacking := o.lacking(s.asked)
	if s.asOf.IsZero() {
		return
	}
	o.samples++
	o.bound = max(o.bound, s.bound)
	for _, c := range lacking {
		o.oldest = max(o.oldest, s.asked.Sub(c.after))
	}
	o.honest.weigh(stated.asOf(s), lacking)
	for i, c := range wrong {
		o.findings[i].weigh(c.asOf(s), lacking)
	}
}

// lacking returns the changes that the store does not hold. One that it held
// before is looked at again, lest it goes back.
func (o *observer) lacking(now time.Time) []change {
	news := o.ledger.since(o.read)
	o.read += len(news)
	var lacking []change
	for _, c := range append(o.open, news...) {
		if o.ledger.lacks(o.store, c) {
			lacking = append(lacking, c)
			continue
		}
		o.held[c.key] = c
	}
	o.open = slices.Clone(lacking)
	for key, c := range o.held {
		switch {
		case o.ledger.lacks(o.store, c):
			lacking = append(lacking, c)
		case c.rv == 0 && now.Sub(c.after) > remembered:
			delete(o.held, key)
		}
	}
	return lacking
}

// finding is what came of one claim.
type finding struct {
	violations int
	worst      time.Duration // by how much the claim was too fresh
	undecided  int           // the change was under way at the moment that the claim is about
	weighed    int
	margin     time.Duration // the least that was left
	first      string        // violation
}

// weigh compares the claim that a store holds everything committed before asOf
// with what it lacks.
func (f *finding) weigh(asOf time.Time, lacking []change) {
	for _, c := range lacking {
		margin := c.after.Sub(asOf)
		if f.weighed == 0 || margin < f.margin {
			f.margin = margin
		}
		f.weighed++
		switch {
		case margin < 0:
			f.violations++
			f.worst = max(f.worst, -margin)
			if f.first == "" {
				f.first = fmt.Sprintf("%s at %d, committed between %s and %s, was missing at %s, though all up to %s was said to be there",
					c.key, c.rv, stamp(c.before), stamp(c.after), stamp(time.Now()), stamp(asOf))
			}
		case c.before.Before(asOf):
			f.undecided++
		}
	}
}

func stamp(t time.Time) string { return t.Format("15:04:05.000000") }

// honestly returns what became of the stated bound, and how often it was looked at.
func (o *observer) honestly() (finding, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.honest, o.samples
}
