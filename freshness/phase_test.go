// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"math/rand/v2"
	"testing"
	"time"
)

// epoch is where the tests' clocks begin.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

func span(from, to float64) window { return window{at(from), at(to)} }

func TestPhaseNext(t *testing.T) {
	tests := []struct {
		name string
		p    phase
		want window
	}{
		{"a minute after the start", newPhase(span(0, 0.1), window{}), span(59, 61.35)},
		{"deadline far off", newPhase(span(0, 0.1), span(300, 300)), span(59, 61.35)},
		{"short watch: before its time-out", newPhase(span(0, 0.1), span(5, 5)), span(2, 4.25)},
		{"deadline within the window: whichever is first", newPhase(span(0, 0), span(62.5, 62.5)), span(59, 61.25)},
		{"answered late: the deadline is as wide as the start", newPhase(span(0, 4), span(5, 9)), span(2, 8.25)},
		{"deadline just after", newPhase(span(0, 0), span(61, 61)), span(58, 60.25)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.p.next(); got != tt.want {
				t.Errorf("next() = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPhaseObserveAndRoll(t *testing.T) {
	tests := []struct {
		name     string
		observed []window
		now      float64
		want     window
		rolled   bool
	}{
		{"nothing happened yet", nil, 61.25, span(59, 61.25), false},
		{"one bookmark narrows the window", []window{span(60, 60.5)}, 61.3, span(119, 121.75), true},
		{"events before the window teach nothing", []window{span(20, 20.5), span(58, 58.5)}, 61.3, span(118, 122.5), true},
		{"two movements: either may be the bookmark", []window{span(59.5, 60), span(61, 61.2)}, 61.3, span(118.5, 122.45), true},
		{"a movement across the edge is clipped", []window{span(58.8, 59.3)}, 61.3, span(118, 120.55), true},
		{"a missed window widens", nil, 61.3, span(118, 122.5), true},
		{"two missed windows widen more", nil, 122.6, span(177, 183.75), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPhase(span(0, 0), window{})
			for _, o := range tt.observed {
				p = p.observe(o.from, o.to)
			}
			p, rolled := p.roll(at(tt.now))
			if rolled != tt.rolled {
				t.Errorf("rolled = %v, want %v", rolled, tt.rolled)
			}
			if got := p.next(); got != tt.want {
				t.Errorf("next() = %v, want %v", got, tt.want)
			}
		})
	}
}

// The last bookmark of a stream is its pretimeout one; after that the minute
// counts again, in case the server does not end the stream.
func TestPhaseAfterDeadline(t *testing.T) {
	p := newPhase(span(0, 0), span(30, 30))
	p, _ = p.roll(at(29.5))
	if got, want := p.next(), span(27+59, 29.25+61.25); got != want {
		t.Errorf("next() = %v, want %v", got, want)
	}
}

// Against a server that follows the rules with every jitter they allow, the
// predicted window holds each bookmark, however the looks fall and however
// many events come between. Twenty periods are twice the longest watch that a
// reflector asks for.
func TestPhaseHoldsEveryBookmark(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		start := r.Float64()
		p := newPhase(span(start-r.Float64()*0.2, start), window{})
		bookmark, look := start, start
		eventGap := []float64{1e9, 40, 10, 1}[r.IntN(4)]
		for range 20 {
			bookmark += 59 + r.Float64()*2.25
			for last := look; look < bookmark; last = look {
				look += 0.5
				isBookmark := last < bookmark && bookmark <= look
				if n := p.next(); isBookmark && (at(bookmark).Before(n.from) || at(bookmark).After(n.to)) {
					t.Fatalf("seed %d: bookmark at %.3f outside %v", seed, bookmark, n)
				}
				if isBookmark || r.Float64() < 0.5/eventGap {
					p = p.observe(at(last), at(look))
				}
				p, _ = p.roll(at(look))
			}
		}
	}
}

func FuzzPhase(f *testing.F) {
	f.Add(int64(0), int64(100), int64(5000), int64(70000))
	f.Fuzz(func(t *testing.T, from, width, deadline, now int64) {
		const limit = int64(1000 * time.Hour / time.Millisecond)
		ms := func(v int64) time.Duration { return time.Duration(v%limit) * time.Millisecond }
		began := window{epoch.Add(ms(from)), epoch.Add(ms(from) + max(ms(width), -ms(width)))}
		p := newPhase(began, window{epoch.Add(ms(deadline)), epoch.Add(ms(deadline))})
		p, _ = p.roll(epoch.Add(ms(now)))
		if n := p.next(); n.width() < 0 {
			t.Errorf("window %v ends before it begins", n)
		}
	})
}
