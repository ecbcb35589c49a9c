// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/transport"
)

// breakage is what breaks streams, and so is noticed at once. What it costs is the
// question.
type breakage struct {
	name string
	// as is how the informers read; nil: as client-go's do.
	as reader
	// fresh: the fault comes as soon as the informers have synced.
	fresh bool
	// fault makes it, for both twins; again: twice a second.
	fault func(*twins) []*faultproxy.Injection
	again bool
	// hold is how long it lasts, while objects are edited.
	hold time.Duration
	// must and may are why watches of the wrapped config end.
	must map[string]int
	may  []string
	// relists: the stock informer has to list again, or it was no such fault.
	relists bool
}

var breakages = []breakage{
	{
		name:  "connections reset",
		fault: reset,
		hold:  5 * time.Second,
		must:  map[string]int{"connection": 1},
	},
	{
		name:  "connections reset right after the sync",
		fresh: true,
		fault: reset,
		hold:  5 * time.Second,
		must:  map[string]int{"connection": 1},
		// Whether stock client-go lists is a matter of microseconds.
	},
	{
		name:  "connections reset again and again",
		fault: reset,
		again: true,
		hold:  15 * time.Second,
		must:  map[string]int{"connection": 3},
		// What stock client-go makes of a reset depends on what it was doing.
	},
	{
		name:  "GOAWAY every few requests",
		as:    asking(5 * time.Second),
		fault: onWatches(faultproxy.GoAway{Every: 2}),
		hold:  30 * time.Second,
		must:  map[string]int{"server": 3},
	},
	{
		name:  "an event cut short",
		fault: onNextEvent(faultproxy.Truncate{}),
		hold:  5 * time.Second,
		must:  map[string]int{"server": 1},
	},
	{
		name:    "an event cut short, by a reset of the stream",
		fault:   onNextEvent(faultproxy.Truncate{Reset: true}),
		hold:    5 * time.Second,
		must:    map[string]int{"connection": 1},
		relists: true,
	},
	{
		name:  "an event cut short, by a reset of the connection",
		fault: onNextEvent(faultproxy.Truncate{Connection: true}),
		hold:  5 * time.Second,
		must:  map[string]int{"connection": 1},
	},
	{
		name:    "every event cut short",
		fault:   onWatches(faultproxy.Truncate{}),
		hold:    15 * time.Second,
		must:    map[string]int{"server": 3},
		relists: true,
	},
	{
		name:    "streams reset every 20 s",
		fault:   onWatches(faultproxy.CutStreamEvery{Reset: true}),
		hold:    65 * time.Second,
		must:    map[string]int{"connection": 3},
		relists: true,
	},
	{
		name:    "streams ended as soon as they begin",
		fault:   onWatches(faultproxy.CutStreamEvery{Age: time.Nanosecond}),
		hold:    15 * time.Second,
		must:    map[string]int{"server": 5},
		relists: true,
	},
	{
		name:    "streams reset as soon as they begin",
		fault:   onWatches(faultproxy.CutStreamEvery{Age: time.Nanosecond, Reset: true}),
		hold:    15 * time.Second,
		must:    map[string]int{"connection": 3},
		relists: true,
	},
}

func reset(tw *twins) []*faultproxy.Injection { return []*faultproxy.Injection{tw.tcp.Reset()} }

func onWatches(f faultproxy.Fault) func(*twins) []*faultproxy.Injection {
	return func(tw *twins) []*faultproxy.Injection {
		return []*faultproxy.Injection{tw.api.Inject(tw.match("watch"), f)}
	}
}

// onNextEvent hits the next event of each twin.
func onNextEvent(f faultproxy.Fault) func(*twins) (all []*faultproxy.Injection) {
	return func(tw *twins) (all []*faultproxy.Injection) {
		for _, w := range tw.both() {
			m := w.match("watch")
			m.Times = 1
			all = append(all, tw.api.Inject(m, f))
		}
		return all
	}
}

// TestTransportResumesWhateverBreaks breaks streams and connections in every way
// that the proxies know. The wrapped informer is never sent an object twice.
func TestTransportResumesWhateverBreaks(t *testing.T) {
	realServerTest(t)
	for _, b := range breakages {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			tw := newTwins(t, transport.Options{})
			tw.startSynced(t, b.as)
			if !b.fresh {
				awaitOpen(t, tw.wrapped)
				awaitOpen(t, tw.stock)
			}
			b.run(t, tw)
		})
	}
}

func (b breakage) run(t *testing.T, tw *twins) {
	t.Helper()
	begin := time.Now()
	faults := b.fault(tw)
	for i := 0; time.Since(begin) < b.hold; i++ {
		if b.again {
			faults = append(faults, b.fault(tw)...)
		}
		if i%2 == 0 {
			tw.edit(t, fmt.Sprint(i))
		}
		sleepUntil(t.Context(), time.Now().Add(time.Second/2))
	}
	hits := 0
	for _, f := range faults {
		hits += f.Hits()
		f.Lift()
	}
	if hits < 2 {
		t.Errorf("%v have acted %d times, want at least once on each twin", faults, hits)
	}
	lifted := tw.edit(t, after)
	seen := tw.wrapped.await(t, after, lifted, patience)
	stockSeen := tw.stock.await(t, after, lifted, patience)

	tw.checkSame(t)
	tw.checkResumed(t, begin)
	tw.checkEnds(t, b.must, b.may...)
	relisted := tw.stock.refilled(begin)
	if b.relists && relisted == 0 {
		t.Errorf("the stock informer was not sent anything again: there was no such fault:\n%v", tw.stock.requests(""))
	}
	if failed := tw.wrapped.errors(); len(failed) > 0 {
		t.Errorf("the wrapped informer has failed: %v", failed)
	}
	results.figures(t, map[string]float64{
		"relisted_wrapped": float64(tw.wrapped.refilled(begin)), "relisted_stock": float64(relisted),
		"requests_wrapped": float64(len(tw.wrapped.requests("")) - 1), "requests_stock": float64(len(tw.stock.requests("")) - 1),
		"seen_s": seconds(seen), "stock_seen_s": seconds(stockSeen),
	})
}
