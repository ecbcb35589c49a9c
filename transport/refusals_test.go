// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestRefusalsProveDead(t *testing.T) {
	o, err := ExitOptions{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	dead := refusals{lasted: o.After, responses: o.MinResponses, fresh: 1}
	tests := []struct {
		name    string
		change  func(*refusals, *ExitOptions)
		unknown bool // connections
		want    bool
	}{
		{"all conditions just met", func(*refusals, *ExitOptions) {}, false, true},
		{"one nanosecond short", func(r *refusals, _ *ExitOptions) { r.lasted-- }, false, false},
		{"one answer short", func(r *refusals, _ *ExitOptions) { r.responses-- }, false, false},
		{"no new connection", func(r *refusals, _ *ExitOptions) { r.fresh = 0 }, false, false},
		{"no new connection, none known", func(r *refusals, _ *ExitOptions) { r.fresh = 0 }, true, true},
		{"connections unknown, one nanosecond short", func(r *refusals, _ *ExitOptions) { r.fresh, r.lasted = 0, r.lasted-1 }, true, false},
		{"longer After", func(_ *refusals, o *ExitOptions) { o.After++ }, false, false},
		{"more answers asked for", func(_ *refusals, o *ExitOptions) { o.MinResponses++ }, false, false},
		{"no row", func(r *refusals, _ *ExitOptions) { *r = refusals{} }, false, false},
		{"immediate, no row", func(r *refusals, o *ExitOptions) { *r, o.Immediate = refusals{}, true }, false, false},
		{"immediate, first answer", func(r *refusals, o *ExitOptions) { *r, o.Immediate = refusals{responses: 1}, true }, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, o := dead, o
			tt.change(&r, &o)
			if got := r.proveDead(o, !tt.unknown); got != tt.want {
				t.Errorf("proveDead = %v, want %v, of %+v", got, tt.want, r)
			}
		})
	}
}

// Connections are counted, not answers.
func TestRefusalsCountConnections(t *testing.T) {
	var r refusals
	for _, step := range []struct {
		at, opened time.Duration
		want       int
	}{
		{0, -1, 0},
		{1, -1, 0},
		{2, 0, 0},
		{3, 2, 1},
		{4, 2, 1},
		{5, -1, 1},
		{6, 5, 2},
		{7, 2, 2}, // the older one again
	} {
		r.add(dawn.Add(step.at), dawn.Add(step.opened), tokenID{}, time.Minute)
		if r.fresh != step.want {
			t.Errorf("at %v: %d new connections, want %d", step.at, r.fresh, step.want)
		}
	}
	if want := (refusals{first: dawn, last: dawn.Add(7), lasted: 7, responses: 8, fresh: 2, newest: dawn.Add(5)}); r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
}

// runUntilDead adds 401s, each over a connection of its own and with the gaps that
// next returns, until they prove the credential dead, or a thousand of them.
func (r *refusals) runUntilDead(o ExitOptions, next func() time.Duration) (took time.Duration, dead bool) {
	start := time.Unix(1e9, 0)
	for range 1000 {
		r.add(start.Add(took), start.Add(took), tokenID{}, o.longestSilence())
		if r.proveDead(o, true) {
			return took, true
		}
		took += next()
	}
	return took, false
}

// The bound that ExitOptions promises, for any spacing of requests.
func TestExitComesWithinTheBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		o := ExitOptions{After: 10*time.Second + upTo(rnd, 5*time.Minute), MinResponses: 3}
		longest := upTo(rnd, 10*time.Minute)
		// Requests so rare that the third comes later, take at least two gaps.
		bound := o.After + 2*longest
		var r refusals
		took, dead := r.runUntilDead(o, func() time.Duration {
			if rnd.IntN(4) == 0 {
				return longest
			}
			return max(upTo(rnd, longest), time.Millisecond)
		})
		if !dead || took > bound {
			t.Fatalf("After %v, gaps up to %v: dead %v after %v, want within %v", o.After, longest, dead, took, bound)
		}
		if took < o.After {
			t.Fatalf("After %v: dead after %v already", o.After, took)
		}
	}
}

// A process that is paused once, for however long, has proven nothing by it.
func TestOnePauseCountsForHalf(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	o := ExitOptions{After: 90 * time.Second, MinResponses: 1}
	for range 2000 {
		pause := 45*time.Second + upTo(rnd, 24*time.Hour)
		pauseAt, n := rnd.IntN(10), 0
		awake := time.Duration(0)
		var r refusals
		_, dead := r.runUntilDead(o, func() time.Duration {
			n++
			if n == pauseAt {
				return pause
			}
			gap := upTo(rnd, 10*time.Second)
			awake += gap
			return gap
		})
		if !dead || awake < o.After/2 {
			t.Fatalf("a pause of %v: dead %v after being awake for %v, want at least %v", pause, dead, awake, o.After/2)
		}
	}
}

func upTo(rnd *rand.Rand, below time.Duration) time.Duration {
	return time.Duration(rnd.Int64N(int64(below)))
}
