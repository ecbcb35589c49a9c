// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"slices"
	"testing"
	"time"
	"unsafe"
)

// The model's own time is a time.Duration since the simulation began, and goes on
// whatever happens to the machine that the informer is on.

const never = time.Duration(1<<63 - 1)

// hostClock is the clock of that machine. While it sleeps its monotonic clock stands
// still, as Linux's does, and its wall clock can be set.
type hostClock struct {
	slept time.Duration // so far
	set   time.Duration // so far, by which the wall clock was
	setAt time.Duration // when it was last
	naps  []nap
	now   time.Time // what it shows to those who ask by themselves
}

// nap says what the monotonic clock has missed, from a reading of it on.
type nap struct{ mono, slept time.Duration }

// at is what the clock shows at t, provided that nothing happens to it until then.
func (c *hostClock) at(t time.Duration) time.Time { return reading(t-c.slept, t+c.set) }

// sleep notes that the machine slept from one moment to another.
func (c *hostClock) sleep(from, to time.Duration) {
	mono := from - c.slept
	c.slept += to - from
	c.naps = append(c.naps, nap{mono, c.slept})
}

// step sets the wall clock.
func (c *hostClock) step(t, by time.Duration) { c.set, c.setAt = c.set+by, t }

// when is the model's time of a reading.
func (c *hostClock) when(r time.Time) time.Duration {
	mono := r.Sub(reading(0, 0))
	for _, n := range slices.Backward(c.naps) {
		if mono > n.mono {
			return mono + n.slept
		}
	}
	return mono
}

// whenWall is the model's time at which the wall clock shows r, if it is not set again.
func (c *hostClock) whenWall(r time.Time) time.Duration {
	return r.Round(0).Sub(reading(0, 0).Round(0)) - c.set
}

// Now and Since implement clock.PassiveClock.
func (c *hostClock) Now() time.Time                  { return c.now }
func (c *hostClock) Since(t time.Time) time.Duration { return c.now.Sub(t) }

// layout is how package time keeps a time with both clocks: a flag, 33 bits of seconds
// since 1885 and 30 of nanoseconds, and the monotonic reading. There is no other way to
// a time of which the two differ; TestHostClock would notice if it changed.
type layout struct {
	wall uint64
	ext  int64
	loc  *time.Location
}

// reading makes a time that shows wall since the epoch, and mono by the monotonic clock.
func reading(mono, wall time.Duration) time.Time {
	const flag, year2026 = 1 << 63, 4449513600
	l := layout{
		wall: flag | uint64(year2026+int64(wall/time.Second))<<30 | uint64(wall%time.Second),
		ext:  int64(mono) + 1,
	}
	return *(*time.Time)(unsafe.Pointer(&l))
}

func TestHostClock(t *testing.T) {
	var c hostClock
	began := c.at(time.Hour)
	if began.Year() != 2026 {
		t.Errorf("began at %v", began)
	}
	c.sleep(2*time.Hour, 5*time.Hour)
	c.step(5*time.Hour, time.Minute)
	woke := c.at(5*time.Hour + time.Second)
	if got, want := woke.Sub(began), time.Hour+time.Second; got != want {
		t.Errorf("%v by the monotonic clock, want %v", got, want)
	}
	if got, want := woke.Round(0).Sub(began.Round(0)), 4*time.Hour+time.Minute+time.Second; got != want {
		t.Errorf("%v by the wall clock, want %v", got, want)
	}
	for _, want := range []time.Duration{0, time.Hour, 5*time.Hour + time.Second} {
		c := c
		if want < 2*time.Hour {
			c = hostClock{}
		}
		if got := c.when(c.at(want)); got != want {
			t.Errorf("when = %v, want %v", got, want)
		}
	}
	if later := began.Add(time.Minute); !later.After(began) || later.Sub(began) != time.Minute {
		t.Errorf("%v and %v", began, later)
	}
}
