// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// This file decides which objects lag: pure functions of what was known, what was
// read, and when. Everything else reads, or tells.

// generationSighting is an object as it was read.
type generationSighting struct {
	namespace, name      string
	generation, observed int64
	// took is the time from edit to report, by the API server's clock; negative where it
	// does not tell.
	took time.Duration
}

// generationReading is all objects of a kind at one moment, less those that are being
// deleted.
type generationReading struct {
	began, ended time.Time
	// known holds, for every object, the generation that is known to be observed; 0 where
	// none is.
	known map[types.UID]int64
	// looked holds those that have another generation than that, and missed those of them
	// that could not be looked at.
	looked map[types.UID]generationSighting
	missed map[types.UID]bool
	// bare is how many have no generation at all.
	bare int
}

// generationTrail is an object that its controller has not caught up with.
type generationTrail struct {
	generationSighting
	pending int64     // the generation that is waited for
	since   time.Time // when it was first found to be; shifted by the time that the process was stopped
	lags    bool
}

// generationBooks is what is known of a kind. The zero value is that nothing is.
type generationBooks struct {
	known  map[types.UID]int64 // of every object, the newest generation known to be observed
	trails map[types.UID]generationTrail
}

// next is what becomes of a trail, or of an object that had none, when the object is
// read again; false says that it does not trail.
//
// It is the generation of the first sighting that is waited for. One that has moved on
// when that is reached is waited for from now: an object that is edited all the time
// under a healthy controller does not lag. An observed generation that moves without
// reaching it changes nothing: who is ever further behind lags as well.
//
// since is the end of the read that found it, and the age is that at the beginning of
// this one: it did trail for at least as long.
func (t generationTrail) next(s generationSighting, began, ended time.Time, limit time.Duration) (generationTrail, bool) {
	switch {
	case s.observed >= s.generation:
		return generationTrail{}, false
	// A generation that went back, as in a datastore restored from a backup, would never
	// reach what was waited for.
	case t.since.IsZero(), s.observed >= t.pending, s.generation < t.pending:
		return generationTrail{generationSighting: s, pending: s.generation, since: ended}, true
	}
	t.generationSighting = s
	t.lags = began.Sub(t.since) > limit
	return t, true
}

// after is what is known once a kind has been read, and how long the controller took to
// report what it has reported since the read before.
//
// Only complete reads come here. Of one that has failed in the middle nothing is kept,
// not even what it did see: an object that is not in it may be gone or on a page that was
// not read, and a lag is told by reads that can also tell its end. What has begun goes on:
// ages grow by the clock until a read shows that the object has caught up.
func (b generationBooks) after(r generationReading, limit time.Duration) (generationBooks, []time.Duration) {
	first := b.known == nil
	out := generationBooks{known: r.known, trails: map[types.UID]generationTrail{}}
	var took []time.Duration
	for uid, s := range r.looked {
		before := b.trails[uid]
		if t, trails := before.next(s, r.began, r.ended, limit); trails {
			out.trails[uid] = t
			continue
		}
		out.known[uid] = s.generation
		if d := before.propagation(s, r.ended); d >= 0 && !first {
			took = append(took, d)
		}
	}
	for uid := range r.missed {
		if t, trailed := b.trails[uid]; trailed {
			out.trails[uid] = t // as it was: nothing is known
		}
	}
	return out, took
}

// propagation is how long it took to report an object that has caught up: by the API
// server's clock where that can be told, else by when we saw it trail; negative where
// neither says anything.
func (t generationTrail) propagation(s generationSighting, now time.Time) time.Duration {
	switch {
	case s.took >= 0:
		return s.took
	case t.since.IsZero():
		return -1
	}
	return now.Sub(t.since)
}

// forgive moves all sightings by a time in which this process did not run: it could not
// have seen the controller catch up.
func (b generationBooks) forgive(late time.Duration) {
	for uid, t := range b.trails {
		t.since = t.since.Add(late)
		b.trails[uid] = t
	}
}

// lagging tells how many objects lag, and since when the first of them has trailed.
func (b generationBooks) lagging() (n int, oldest time.Time) {
	for _, t := range b.trails {
		if !t.lags {
			continue
		}
		if n++; oldest.IsZero() || t.since.Before(oldest) {
			oldest = t.since
		}
	}
	return n, oldest
}
