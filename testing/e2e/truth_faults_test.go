// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// target is whom a fault hits: one kind, at one operator or at the datastore.
type target struct {
	*truthStage
	*operator
	kind   kind
	random *rand.Rand
}

// on selects the requests for the kind.
func (g target) on(verb string) faultproxy.Match {
	return faultproxy.Match{Verb: verb, Resource: g.kind.resource()}
}

// upTo returns a random duration.
func (g target) upTo(d time.Duration) time.Duration {
	return time.Duration(g.random.Int64N(int64(d))) + 1
}

// either flips a coin.
func (g target) either() bool { return g.random.IntN(2) == 0 }

// calamity is a fault that may come at any moment. Lost events are not among
// them: a bookmark carries an informer past those, and only an audit finds them.
type calamity struct {
	name string
	// atMost is how long it lasts at most; zero: as long as any.
	atMost time.Duration
	strike func(t *testing.T, g target) (lift func())
}

// fellSilent is the one that the package is there for.
var fellSilent = calamity{name: "silent stream", strike: inject("watch", func(target) faultproxy.Fault { return faultproxy.Silence{OnlyOpen: true} })}

// inject returns a strike at the requests with a verb.
func inject(verb string, f func(target) faultproxy.Fault) func(*testing.T, target) func() {
	return func(_ *testing.T, g target) func() { return g.api.Inject(g.on(verb), f(g)).Lift }
}

// calamities returns all of them.
func calamities() []calamity {
	return []calamity{
		fellSilent,
		{name: "silent streams, new ones too", strike: inject("watch", func(target) faultproxy.Fault { return faultproxy.Silence{} })},
		{name: "bookmarks withheld", strike: inject("watch", func(target) faultproxy.Fault { return faultproxy.WithholdBookmarks{} })},
		{name: "late events", strike: inject("watch", func(g target) faultproxy.Fault { return faultproxy.Delay{D: g.upTo(3 * time.Second)} })},
		{name: "slow requests", strike: inject("", func(g target) faultproxy.Fault { return faultproxy.Delay{D: g.upTo(5 * time.Second)} })},
		{name: "headers held", strike: inject("", func(target) faultproxy.Fault { return faultproxy.HoldHeaders{} })},
		{name: "streams cut", strike: inject("watch", func(g target) faultproxy.Fault {
			return faultproxy.CutStreamEvery{Age: time.Second + g.upTo(8*time.Second), Reset: g.either()}
		})},
		{name: "responses truncated", strike: inject("", func(g target) faultproxy.Fault { return faultproxy.Truncate{Reset: g.either()} })},
		{name: "history gone", atMost: 2 * time.Second, strike: inject("watch", func(target) faultproxy.Fault { return faultproxy.ErrorEvent{} })},
		{name: "lists refused with 429", strike: inject("list", func(target) faultproxy.Fault { return faultproxy.Status{Code: http.StatusTooManyRequests} })},
		{name: "lists refused with 503", strike: inject("list", func(target) faultproxy.Fault { return faultproxy.Status{Code: http.StatusServiceUnavailable} })},
		{name: "lists that hang", strike: inject("list", func(target) faultproxy.Fault { return faultproxy.HangList{} })},
		{name: "GOAWAY", strike: inject("", func(g target) faultproxy.Fault { return faultproxy.GoAway{Every: 1 + g.random.IntN(3)} })},
		{name: "black hole", strike: func(_ *testing.T, g target) func() {
			return g.front.Blackhole(faultproxy.Blackhole{Direction: faultproxy.Direction(g.random.IntN(3)), Existing: g.either()}).Lift
		}},
		{name: "connections reset", atMost: time.Second, strike: func(_ *testing.T, g target) func() { return g.front.Reset().Lift }},
		{name: "connections refused", strike: func(t *testing.T, g target) func() {
			accept := refuseNew(t, g.front)
			g.front.Reset()
			return accept
		}},
		{name: "watch cache frozen", strike: func(_ *testing.T, g target) func() { return g.plane.Etcd.FreezeWatches(g.kind.etcdPrefix()).Lift }},
		{name: "watch cache held", strike: func(_ *testing.T, g target) func() { return g.plane.Etcd.HoldWatches(g.kind.etcdPrefix()).Lift }},
		{name: "watch cache late", strike: func(_ *testing.T, g target) func() {
			return g.plane.Etcd.Delay(g.kind.etcdPrefix(), g.upTo(4*time.Second)).Lift
		}},
		{name: "datastore paused", atMost: 5 * time.Second, strike: pause(controlplane.Etcd)},
		{name: "API server paused", atMost: 5 * time.Second, strike: pause(controlplane.APIServer)},
	}
}

// pause stops a program of the control plane. Two may do so at once: it goes on
// with the first that lets it.
func pause(c controlplane.Component) func(*testing.T, target) func() {
	return func(t *testing.T, g target) func() {
		if err := g.plane.Pause(t.Context(), c); err != nil {
			t.Error(err)
		}
		return func() {
			if err := g.plane.Resume(c); err != nil {
				t.Error(err)
			}
		}
	}
}

// storm is how faults come and go.
type storm struct {
	lasts   time.Duration
	dealers int           // faults at once
	longest time.Duration // fault
	lull    time.Duration // the longest from one fault of a dealer to its next
}

// faultLog is what faults there were.
type faultLog struct {
	struck atomic.Int64
	mu     sync.Mutex
	lines  []string
	kinds  map[string]int
}

func (l *faultLog) add(name, line string) {
	l.struck.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds[name]++
	l.lines = append(l.lines, line)
}

// rage lets the faults come and go until the storm is over, and returns what there
// were. Each dealer has a share of them, shuffled, so that all have their turn.
func (s storm) rage(t *testing.T, stage *truthStage, seed uint64) *faultLog {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.lasts)
	defer cancel()
	log := &faultLog{kinds: map[string]int{}}
	deck := calamities()
	random := rand.New(rand.NewPCG(seed, 1<<32)) //nolint:gosec // to be repeatable
	random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	var wg sync.WaitGroup
	for i := range s.dealers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1<<33+uint64(i))) //nolint:gosec // to be repeatable
			if i == 0 {
				s.deal(ctx, t, certain(stage, random), patience, fellSilent, log)
			}
			for n := i; ctx.Err() == nil; n += s.dealers {
				g := target{
					truthStage: stage, random: random,
					operator: stage.operators[random.IntN(len(stage.operators))],
					kind:     stage.authors[random.IntN(len(stage.authors))].kind,
				}
				// Every other one comes right after a proof, which is when there is most to
				// be wrong about.
				s.deal(ctx, t, g, time.Duration(random.IntN(2))*s.longest/2, deck[n%len(deck)], log)
			}
		})
	}
	wg.Wait()
	return log
}

// certain is a target which no wrong claim gets away with: a kind that is edited
// all the time, of an operator that proves it every few seconds. The rest is chance.
func certain(stage *truthStage, random *rand.Rand) target {
	return target{truthStage: stage, operator: stage.operators[1], kind: configMaps, random: random}
}

// deal makes one fault and lifts it. It waits so long for a proof to come right
// before.
func (s storm) deal(ctx context.Context, t *testing.T, g target, forProof time.Duration, c calamity, log *faultLog) {
	had := g.proofs(g.kind)
	poll.Until(ctx, forProof, func() bool { return g.proofs(g.kind) > had })
	longest := s.longest
	if c.atMost > 0 {
		longest = min(longest, c.atMost)
	}
	begin, lasts := time.Now(), g.upTo(longest)
	lift := c.strike(t, g)
	sleepUntil(ctx, begin.Add(lasts))
	lift()
	log.add(c.name, fmt.Sprintf("%s to %s: %s: %s, %s", stamp(begin), stamp(time.Now()), c.name, g.name, g.kind.resource()))
	sleepUntil(ctx, time.Now().Add(g.upTo(s.lull)))
}
