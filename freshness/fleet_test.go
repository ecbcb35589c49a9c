// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	fleetSeed     = flag.Uint64("fleet.seed", 0, "seed of the simulated fleet; 0: a new one each time")
	fleetInformer = flag.Int("fleet.informer", -1, "simulate this informer of the fleet only")
)

// fleetOptions is what a fleet is made of.
type fleetOptions struct {
	informers  int
	lasts      time.Duration
	perProcess int     // informers that share their weather
	harshness  float64 // times as much trouble as the climate has
	skips      bool    // looks at which nothing can happen
	restless   bool    // looked at while nothing is due, too
	keep       bool    // all that happened, not only the newest
	lax        bool    // broken promises do not end a life
	tamper     tamper
}

// TestFleet simulates a fleet of informers with every trouble that healthy clusters
// have, and with stalls: no false one, none missed, none noticed later than the bound
// that is stated, and no bound that is not kept.
//
// FRESHWATCH_FLEET=1000x30d asks for more informers and a longer time, and for another
// seed each time. A life that
// went wrong is run again with the flags that the failure names.
func TestFleet(t *testing.T) {
	o := fleetOptions{informers: 60, lasts: 48 * time.Hour / slowdown, perProcess: 20, harshness: 3, skips: true}
	if text := os.Getenv("FRESHWATCH_FLEET"); text != "" {
		var days float64
		if _, err := fmt.Sscanf(text, "%dx%fd", &o.informers, &days); err != nil || o.informers < 1 || days <= 0 {
			t.Fatalf("FRESHWATCH_FLEET is %q, but should be like 1000x30d", text)
		}
		o.lasts, o.harshness = time.Duration(days*float64(24*time.Hour)), 1
	}
	seed := *fleetSeed
	switch {
	case seed != 0:
	case os.Getenv("FRESHWATCH_FLEET") == "":
		seed = 1 // so that a change of the rules is to blame when it fails
	default:
		seed = uint64(time.Now().UnixNano())
	}
	began := time.Now()
	total, broken := simulate(seed, o)
	for i, l := range broken {
		t.Errorf("-run 'TestFleet$' -fleet.seed=%d -fleet.informer=%d: %s", seed, l.n, l.judge.broken)
		if i < 3 {
			t.Logf("%+v, no progress: %t\n%s", l.profile, l.cluster.noProgress, l.history())
		}
	}
	t.Logf("seed %d, %v: %v", seed, time.Since(began).Round(time.Millisecond), total)
}

// simulate runs a fleet, and returns what it came to and the lives that went wrong.
func simulate(seed uint64, o fleetOptions) (total tally, broken []*life) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := int(next.Add(1)) - 1; n < o.informers; n = int(next.Add(1)) - 1 {
				if *fleetInformer >= 0 && n != *fleetInformer {
					continue
				}
				l := live(seed, n, o)
				mu.Lock()
				total.join(l.tally)
				if l.judge.broken != "" {
					broken = append(broken, l)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortFunc(broken, func(a, b *life) int { return a.n - b.n })
	return total, broken
}

// live runs one informer of a fleet.
func live(seed uint64, n int, o fleetOptions) *life {
	l := newLife(seed, n, o)
	l.run(o.lasts)
	l.tally.lives, l.tally.lived, l.tally.counters = 1, o.lasts, l.state.counters
	return l
}
