// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// witness writes down what happens and puts it on the timeline. It is safe for
// concurrent use.
type witness struct {
	timeline *timeline

	mu     sync.Mutex
	record record
	told   map[freshness.Informer]time.Time // when the newest entry about each was made
}

// record is what was witnessed. Everything that is said at the end follows from it.
type record struct {
	faultAt  time.Time // zero: not yet
	liftedAt time.Time // zero: not yet, or never
	edits    map[object]edit
	seen     map[sighting]time.Time // of the latest edit of each object
	events   []freshness.Event
	liveness error // the first failure of the guarded operator's probe
}

type edit struct {
	at    time.Time
	color string
}

type sighting struct {
	who    string
	object object
}

func newWitness(t *timeline) *witness {
	return &witness{
		timeline: t,
		record:   record{edits: map[object]edit{}, seen: map[sighting]time.Time{}},
		told:     map[freshness.Informer]time.Time{},
	}
}

// edited notes an edit that is about to be made.
func (w *witness) edited(o object, color string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.record.edits[o] = edit{now, color}
	for _, who := range []string{stock, guarded} {
		delete(w.record.seen, sighting{who, o})
	}
	w.timeline.entry(now, "edit", fmt.Sprintf("%v becomes %s", o, color))
}

// saw notes that an operator found a color in its cache.
func (w *witness) saw(who string, o object, color string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, s, e := time.Now(), sighting{who, o}, w.record.edits[o]
	if _, before := w.record.seen[s]; before || color != e.color {
		return
	}
	w.record.seen[s] = now
	w.timeline.entry(now, who, fmt.Sprintf("sees %v %s, %s after the edit", o, color, short(now.Sub(e.at))))
}

// sees tells whether an operator has seen the latest edit of every object.
func (w *witness) sees(who string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for o := range w.record.edits {
		if _, ok := w.record.seen[sighting{who, o}]; !ok {
			return false
		}
	}
	return true
}

// observe is the monitor's Observer. Proofs that come along with something else
// are not worth a line of their own.
func (w *witness) observe(e freshness.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record.events = append(w.record.events, e)
	text := describe(e)
	if text == "" || e.Type == freshness.Proven && w.told[e.Informer].Equal(e.Time) {
		return
	}
	w.told[e.Informer] = e.Time
	w.timeline.entry(e.Time, guarded, e.Informer.Resource+": "+text)
}

// describe says what an event means; nothing for those that mean nothing alone.
func describe(e freshness.Event) string {
	switch e.Type {
	case freshness.VerdictChanged:
		return fmt.Sprintf("%v -> %v: %s", e.Previous, e.Verdict, e.Reason)
	case freshness.Proven:
		return fmt.Sprintf("proven to hold every change up to %s ago", short(e.Time.Sub(e.FreshAsOf)))
	case freshness.CureStarted:
		return fmt.Sprintf("a proof is overdue, cure %q: %s", e.Cure, explain(e.Cure))
	case freshness.CureProven:
		return fmt.Sprintf("the cure %q worked", e.Cure)
	case freshness.CureFailed:
		return fmt.Sprintf("the cure %q did not help", e.Cure)
	default:
		return ""
	}
}

// explain says what a cure does.
func explain(r freshness.Rung) string {
	if r == freshness.Resume {
		return "watch again from where it was"
	}
	return "fetch everything again"
}

// broke notes that the fault is about to come.
func (w *witness) broke(now time.Time, title string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record.faultAt = now
	w.timeline.begin(now, "From the fault on, in seconds since then:")
	w.timeline.entry(now, "fault", title)
}

// lifted notes that the fault is gone.
func (w *witness) lifted(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record.liftedAt = now
	w.timeline.entry(now, "fault", "is lifted")
}

// alive notes what the guarded operator's liveness probe answers.
func (w *witness) alive(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil || w.record.liveness != nil {
		return
	}
	w.record.liveness = err
	w.timeline.entry(time.Now(), guarded, "liveness fails: "+err.Error())
}

// now is what was witnessed so far.
func (w *witness) now() record {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.record
	r.seen, r.events = maps.Clone(r.seen), slices.Clone(r.events)
	return r
}
