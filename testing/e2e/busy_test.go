// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// TestBusyInformerCostsProofsOnly writes to a kind 40 times a second. The guard
// then asks for nothing that the stock informer does not ask for, but one proof a
// minute.
func TestBusyInformerCostsProofsOnly(t *testing.T) {
	realServerTest(t)
	const (
		rate     = 40 // writes per second
		atLeast  = 150 * time.Second
		atMost   = 200 * time.Second // for a machine that falls behind
		writes   = int64(rate * atLeast / time.Second)
		busyEven = writes / 2 // there
	)
	busy := kind{name: "Secret"}
	b := newServer(t, sharedPlane.Get(t), busy, t.Name())
	for i := range population {
		b.put(t, fmt.Sprintf("object-%d", i), before)
	}
	p := startProgram(t, b, busy, freshness.Options{}, nil)
	if !poll.Until(t.Context(), patience, func() bool {
		return p.stock.HasSynced() && p.history(everyInformer).verdict() == freshness.Fresh
	}) {
		t.Fatalf("not fresh within %v:\n%v", patience, p.history(everyInformer))
	}

	begin := time.Now()
	w := startWriters(t, b, rate)
	poll.Until(t.Context(), atMost, func() bool { return time.Since(begin) >= atLeast && w.written.Load() >= writes })
	w.stop()
	took := time.Since(begin)
	if w.written.Load() < busyEven {
		t.Errorf("only %d writes within %v: the machine is too slow for this test", w.written.Load(), took)
	}

	p.checkUndisturbed(t, b)
	proofs := checkRequests(t, b, time.Since(begin), int64(p.renewed()))
	checkKeepsUp(t, b, busy, p)
	results.figures(t, map[string]float64{
		"writes_per_second": math.Round(float64(w.written.Load()) / took.Seconds()),
		"seconds":           seconds(took),
		"requests_guarded":  float64(b.requests(guardedAgent)),
		"requests_stock":    float64(b.requests(stockAgent)),
		"proofs":            float64(proofs),
	})
}

// checkRequests compares what the two informers have asked for, and returns the
// number of proofs. On a slow machine the guard may have renewed the watch, which
// costs a watch and two proofs.
func checkRequests(t *testing.T, b *server, elapsed time.Duration, renewals int64) (proofs int64) {
	t.Helper()
	for _, r := range b.api.Requests(faultproxy.Match{UserAgent: guardedAgent, Verb: "list"}) {
		if r.Limit == 1 {
			proofs++
		}
	}
	guarded, stock := b.requests(guardedAgent), b.requests(stockAgent)
	if most := int64(math.Ceil(elapsed.Minutes())) + 1 + 2*renewals; proofs < 2 || proofs > most {
		t.Errorf("%d proofs in %v, want at least 2 and at most %d", proofs, elapsed, most)
	}
	if guarded-proofs-renewals != stock {
		t.Errorf("%d requests besides the proofs and %d renewals, want as many as the stock informer's %d", guarded-proofs-renewals, renewals, stock)
	}
	if g, s := b.refilled(guardedAgent), b.refilled(stockAgent); g != s {
		t.Errorf("%d objects to fill the cache, want as many as the stock informer's %d", g, s)
	}
	return proofs
}

// checkKeepsUp waits until the guarded informer holds the last write.
func checkKeepsUp(t *testing.T, b backend, k kind, p *program) {
	t.Helper()
	want := contents(t, b, k)
	for name, inf := range map[string]cache.SharedIndexInformer{"guarded": p.guarded, "stock": p.stock} {
		if !poll.Until(t.Context(), patience, func() bool { return differs(inf, want) == nil }) {
			t.Errorf("the %s informer: %v", name, differs(inf, want))
		}
	}
}

// writers update objects at a steady rate, as fast as they can where they fell
// behind.
type writers struct {
	written atomic.Int64
	stop    func()
}

func startWriters(t *testing.T, b *server, rate int) *writers {
	t.Helper()
	const workers = 8
	ctx, cancel := context.WithCancel(t.Context())
	w := &writers{}
	var wg sync.WaitGroup
	w.stop = func() { cancel(); wg.Wait() }
	t.Cleanup(w.stop)
	begin := time.Now()
	for i := range workers {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n += workers {
				due := begin.Add(time.Duration(n) * time.Second / time.Duration(rate))
				if !sleepUntil(ctx, due) {
					return
				}
				name := fmt.Sprintf("object-%d", n%population)
				// To the end: the server may carry out a write that was given up.
				if err := b.plane.update(t.Context(), b.kind, //nolint:contextcheck // see above
					b.ns, name, fmt.Sprint(n)); err != nil {
					t.Errorf("write %d: %v", n, err)
					return
				}
				w.written.Add(1)
			}
		})
	}
	return w
}

// sleepUntil waits for a moment and tells whether ctx lasted until then.
func sleepUntil(ctx context.Context, moment time.Time) bool {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
