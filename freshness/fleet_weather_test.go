// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// trouble is what happens to healthy clusters and machines.
type trouble int

const (
	collecting trouble = iota // the process stands still for as long as a bad garbage collection
	stopped                   // or by SIGSTOP, or starved of its share of the processors
	asleep                    // the machine is suspended
	clockSet                  // its wall clock is set
	restarting                // API servers are restarted, one after the other
	slow                      // API servers take their time to accept watches and to answer
	lagging                   // their watch caches follow the datastore late
	failing                   // reads fail, and perhaps watches
	outage                    // the datastore answers nobody
	dead                      // nobody writes anything anywhere
	stuffed                   // this process is slow to apply what the stream has brought
)

const nTroubles = int(stuffed) + 1

var troubleNames = [nTroubles]string{
	"collecting", "stopped", "asleep", "clock set", "restarting", "slow",
	"lagging", "failing", "outage", "dead", "stuffed",
}

// climate is how often each happens, and for how long.
var climate = [nTroubles]struct{ gap, shortest, longest time.Duration }{
	collecting: {40 * time.Minute, 50 * time.Millisecond, 4 * time.Second},
	stopped:    {20 * time.Hour, 4 * time.Second, 15 * time.Minute},
	asleep:     {60 * time.Hour, 10 * time.Second, 12 * time.Hour},
	clockSet:   {90 * time.Hour, time.Nanosecond, time.Nanosecond},
	restarting: {24 * time.Hour, 5 * time.Second, 2 * time.Minute},
	slow:       {10 * time.Hour, time.Minute, 20 * time.Minute},
	lagging:    {20 * time.Hour, 10 * time.Second, 10 * time.Minute},
	failing:    {10 * time.Hour, 2 * time.Second, 20 * time.Minute},
	outage:     {100 * time.Hour, 5 * time.Second, 80 * time.Second},
	dead:       {70 * time.Hour, 10 * time.Minute, 3 * time.Hour},
	stuffed:    {30 * time.Hour, time.Minute, 10 * time.Minute},
}

// failure is how requests fail.
type failure int

const (
	tooMany   failure = iota // 429, after client-go has repeated it for a while
	internal                 // 500
	refused                  // the connection is
	hanging                  // no answer at all
	forbidden                // 403
)

const nFailures = int(forbidden) + 1

// spell is a time of trouble. What it means is drawn beforehand, so that all
// informers of a process have the same weather.
type spell struct {
	from, to time.Duration
	severity float64       // within 0 and 1
	how      failure       // of failing
	watches  bool          // fail, too
	part     float64       // of requests that fail
	by       time.Duration // that the clock is set
}

// weather tells the spells of one process, from its own dice.
type weather struct {
	dice
	harshness float64 // times as often as the climate says
	spells    [nTroubles]spell
	on        [nTroubles]bool
}

func newWeather(seed, process uint64, harshness float64) *weather {
	w := &weather{dice: newDice(seed, process<<32|0xea), harshness: harshness}
	for k := range w.spells {
		w.draw(trouble(k), 0)
	}
	return w
}

// draw plans the next spell of a kind.
func (w *weather) draw(k trouble, now time.Duration) {
	c := climate[k]
	s := spell{
		from:     now + w.about(time.Duration(float64(c.gap)/w.harshness)),
		severity: w.Float64(),
		how:      failure(w.IntN(nFailures)),
		watches:  w.chance(0.4),
		part:     []float64{0.3, 0.7, 1}[w.IntN(3)],
		by:       w.span(time.Second, 2*time.Hour),
	}
	if w.chance(0.5) {
		s.by = -s.by
	}
	s.to = s.from + w.span(c.shortest, c.longest)
	w.spells[k], w.on[k] = s, false
}

// next is when the weather changes.
func (w *weather) next() time.Duration {
	t := never
	for k, on := range w.on {
		if s := &w.spells[k]; on {
			t = min(t, s.to)
		} else {
			t = min(t, s.from)
		}
	}
	return t
}

// change calls begin and end for what begins and ends at t.
func (w *weather) change(t time.Duration, begin, end func(trouble, spell)) {
	for k := range w.spells {
		switch s := w.spells[k]; {
		case !w.on[k] && s.from <= t:
			w.on[k] = true
			begin(trouble(k), s)
		case w.on[k] && s.to <= t:
			w.draw(trouble(k), t)
			end(trouble(k), s)
		}
	}
}

// is tells whether there is trouble of a kind.
func (w *weather) is(k trouble) bool { return w.on[k] }
