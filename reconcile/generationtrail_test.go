// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
)

func generationAt(d time.Duration) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(d)
}

// generationStep is one complete read of one object.
type generationStep struct {
	at                   time.Duration
	took                 time.Duration // of the read
	generation, observed int64
	gone                 bool          // no object of that uid
	missed               bool          // it was not in the second read of its page
	forgive              time.Duration // before the read, the process was stopped for so long
	wantTrails           bool
	wantLags             bool
}

func TestGenerationTrail(t *testing.T) {
	const limit = 10 * time.Minute
	for _, tc := range []struct {
		name, reason string
		steps        []generationStep
	}{
		{"observed", "nothing is owed", []generationStep{
			{generation: 3, observed: 3},
			{at: time.Hour, generation: 3, observed: 3},
		}},
		{"observed more than there is", "a controller's own count is no lag", []generationStep{
			{generation: 3, observed: 9},
		}},
		{"at the limit", "it is the longest that is allowed", []generationStep{
			{generation: 3, observed: 2, wantTrails: true},
			{at: limit, generation: 3, observed: 2, wantTrails: true},
		}},
		{"past the limit", "it has trailed for longer", []generationStep{
			{generation: 3, observed: 2, wantTrails: true},
			{at: limit + 1, generation: 3, observed: 2, wantTrails: true, wantLags: true},
		}},
		{"never reported", "no observed generation is none", []generationStep{
			{generation: 1, observed: 0, wantTrails: true},
			{at: limit + 1, generation: 1, observed: 0, wantTrails: true, wantLags: true},
		}},
		{"edited all the time, healthy", "each generation is reached soon after it was seen", []generationStep{
			{generation: 10, observed: 9, wantTrails: true},
			{at: 5 * time.Minute, generation: 20, observed: 19, wantTrails: true},
			{at: 10 * time.Minute, generation: 30, observed: 29, wantTrails: true},
			{at: 15 * time.Minute, generation: 40, observed: 39, wantTrails: true},
			{at: 20 * time.Minute, generation: 50, observed: 49, wantTrails: true},
		}},
		{"reached exactly, and moved on", "the new generation is waited for from now", []generationStep{
			{generation: 10, observed: 9, wantTrails: true},
			{at: limit, generation: 11, observed: 10, wantTrails: true},
			{at: 2 * limit, generation: 11, observed: 10, wantTrails: true},
			{at: 2*limit + 1, generation: 11, observed: 10, wantTrails: true, wantLags: true},
		}},
		{"edited all the time, blind", "the first sighting counts", []generationStep{
			{generation: 10, observed: 9, wantTrails: true},
			{at: 5 * time.Minute, generation: 20, observed: 9, wantTrails: true},
			{at: limit + 1, generation: 30, observed: 9, wantTrails: true, wantLags: true},
		}},
		{"moves without reaching", "who is ever further behind lags", []generationStep{
			{generation: 10, observed: 2, wantTrails: true},
			{at: 5 * time.Minute, generation: 20, observed: 6, wantTrails: true},
			{at: limit + 1, generation: 30, observed: 9, wantTrails: true, wantLags: true},
		}},
		{"catches up", "it is forgotten at once", []generationStep{
			{generation: 3, observed: 2, wantTrails: true},
			{at: limit + 1, generation: 3, observed: 2, wantTrails: true, wantLags: true},
			{at: limit + 2, generation: 3, observed: 3},
			{at: limit + 3, generation: 4, observed: 3, wantTrails: true},
			{at: 2 * limit, generation: 4, observed: 3, wantTrails: true},
		}},
		{"gone and made anew", "another uid is another object", []generationStep{
			{generation: 3, observed: 2, wantTrails: true},
			{at: 5 * time.Minute, gone: true},
			{at: limit + 1, generation: 3, observed: 2, wantTrails: true},
		}},
		{"restored from a backup", "a generation that went back would never reach what was waited for", []generationStep{
			{generation: 9, observed: 8, wantTrails: true},
			{at: limit, generation: 4, observed: 3, wantTrails: true},
			{at: limit + time.Minute, generation: 5, observed: 4, wantTrails: true},
			{at: 2*limit - 1, generation: 6, observed: 5, wantTrails: true},
		}},
		{"missed by the second read", "what is not known changes nothing", []generationStep{
			{generation: 3, observed: 2, wantTrails: true},
			{at: limit + 1, missed: true, wantTrails: true},
			{at: limit + 2, generation: 3, observed: 2, wantTrails: true, wantLags: true},
			{at: limit + 3, missed: true, wantTrails: true, wantLags: true},
		}},
		{"a process that was paused", "it could not have seen the controller catch up", []generationStep{
			{generation: 3, observed: 2, wantTrails: true},
			{at: 2 * limit, forgive: limit, generation: 3, observed: 2, wantTrails: true},
			{at: 2*limit + 1, generation: 3, observed: 2, wantTrails: true, wantLags: true},
		}},
		{"slow reads", "an age is from the end of one read to the beginning of another", []generationStep{
			{took: time.Minute, generation: 3, observed: 2, wantTrails: true},
			{at: limit + time.Minute, took: time.Minute, generation: 3, observed: 2, wantTrails: true},
			{at: limit + time.Minute + 1, took: time.Minute, generation: 3, observed: 2, wantTrails: true, wantLags: true},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b generationBooks
			for i, s := range tc.steps {
				b.forgive(s.forgive)
				b, _ = b.after(s.reading(b), limit)
				trail, trails := b.trails["a"]
				if trails != s.wantTrails || trail.lags != s.wantLags {
					t.Errorf("read %d: trails %v, lags %v; want %v, %v: %s", i, trails, trail.lags, s.wantTrails, s.wantLags, tc.reason)
				}
			}
		})
	}
}

// reading is the read of a step, after what is known from the steps before.
func (s generationStep) reading(b generationBooks) generationReading {
	r := generationReading{
		began: generationAt(s.at), ended: generationAt(s.at + s.took), known: map[types.UID]int64{},
		looked: map[types.UID]generationSighting{}, missed: map[types.UID]bool{},
	}
	switch known := b.known["a"]; {
	case s.gone:
	case s.missed:
		r.known["a"], r.missed["a"] = known, true
	default:
		r.known["a"] = known
		if s.generation != known {
			r.looked["a"] = generationSighting{generation: s.generation, observed: s.observed, took: -1}
		}
	}
	return r
}

func TestGenerationPropagation(t *testing.T) {
	const unknown = -1
	sighted := func(generation, observed int64, took time.Duration) generationSighting {
		return generationSighting{generation: generation, observed: observed, took: took}
	}
	read := func(at time.Duration, objects map[types.UID]generationSighting) generationReading {
		r := generationReading{began: generationAt(at), ended: generationAt(at), known: map[types.UID]int64{}, looked: objects}
		for uid := range objects {
			r.known[uid] = 0
		}
		return r
	}
	var b generationBooks
	step := func(reason string, r generationReading, want ...time.Duration) {
		t.Helper()
		var got []time.Duration
		b, got = b.after(r, time.Hour)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.SortSlices(func(x, y time.Duration) bool { return x < y })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	type objects = map[types.UID]generationSighting
	step("what the first read finds is history", read(0, objects{"a": sighted(1, 1, time.Second), "b": sighted(2, 1, unknown)}))
	step("by the API server's clock, or by two sightings", read(time.Minute, objects{"a": sighted(2, 2, 3*time.Second), "b": sighted(2, 2, unknown)}), 3*time.Second, time.Minute)
	step("neither says anything", read(2*time.Minute, objects{"a": sighted(3, 3, unknown), "c": sighted(1, 1, -2*time.Second)}))
	step("the API server's clock goes before our sightings", read(3*time.Minute, objects{"a": sighted(5, 4, time.Second)}))
	step("and it may say none at all", read(4*time.Minute, objects{"a": sighted(5, 5, 0)}), 0)
	if got := b.known["a"]; got != 5 {
		t.Errorf("generation %d is known to be observed, want 5", got)
	}
}
