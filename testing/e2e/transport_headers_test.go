// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// TestTransportSendsUnansweredWatchAnew loses the responses to the next watches
// of each informer, headers first. Others would be answered.
func TestTransportSendsUnansweredWatchAnew(t *testing.T) {
	realServerTest(t)
	const (
		patient = 5 * time.Second // HeaderTimeout
		lost    = 2
	)
	tw := newTwins(t, transport.Options{HeaderTimeout: patient})
	tw.startSynced(t, nil)
	held := make([]*faultproxy.Injection, 0, 2)
	for _, w := range tw.both() {
		m := w.match("watch")
		m.Times = 1 + lost // the one under way counts, but has its headers
		held = append(held, tw.api.Inject(m, faultproxy.HoldHeaders{}))
	}
	// The watches under way are to end, and to be sent again.
	for _, w := range tw.both() {
		awaitOpen(t, w)
	}
	cut := tw.api.Inject(faultproxy.Match{Verb: "watch", Namespace: tw.ns, Times: 2}, faultproxy.CutStreamEvery{Age: time.Second})
	for _, f := range held {
		awaitHits(t, f, 1)
	}
	cut.Lift()
	fault := tw.edit(t, after)

	seen := tw.wrapped.await(t, after, fault, lost*patient+late)
	tw.stock.checkBlind(t, after)
	poll.Until(t.Context(), longer, func() bool { return false })
	tw.stock.checkBlind(t, after)
	blind := time.Since(fault)
	for _, f := range held {
		f.Lift()
	}
	tw.stock.await(t, after, fault, blind+patience)

	tw.checkSame(t)
	tw.checkResumed(t, fault)
	tw.checkEnds(t, map[string]int{"headers": lost, "server": 1})
	results.figures(t, map[string]float64{
		"seen_s": seconds(seen), "stock_blind_s": seconds(blind),
		"watches_wrapped": float64(len(tw.wrapped.requests("watch"))), "watches_stock": float64(len(tw.stock.requests("watch"))),
	})
}

// awaitOpen waits until an informer has a watch under way that is older than what
// a reflector takes for too short.
func awaitOpen(t *testing.T, w *twin) {
	t.Helper()
	if !poll.Until(t.Context(), patience, func() bool {
		all := w.requests("watch")
		return len(all) > 0 && all[len(all)-1].Open && all[len(all)-1].Duration > 2*time.Second
	}) {
		t.Fatalf("%s has no watch:\n%v", w.agent, w.requests("watch"))
	}
}

// TestTransportBearsHeadersThatWaitForEvents puts a proxy before the server that
// sends a response on with its first event. That is no stall. Watches of quiet
// kinds are sent anew now and then, and nothing is lost.
func TestTransportBearsHeadersThatWaitForEvents(t *testing.T) {
	realServerTest(t)
	const (
		patient = 2 * time.Second // HeaderTimeout
		edits   = 15
	)
	tw := newTwins(t, transport.Options{HeaderTimeout: patient})
	tw.api.Inject(tw.match("watch"), faultproxy.HoldHeaders{UntilFirstByte: true})
	tw.startSynced(t, asking(5*time.Second)) // a stream that has begun is not held back any more
	begin := time.Now()
	var slowest time.Duration
	for i := range edits {
		// Before, at and after the moment at which a watch is given up.
		pause := patient + time.Duration(i-edits/2)*150*time.Millisecond
		sleepUntil(t.Context(), time.Now().Add(pause))
		moment := tw.edit(t, fmt.Sprint(i))
		slowest = max(slowest, tw.wrapped.await(t, fmt.Sprint(i), moment, late))
		tw.stock.await(t, fmt.Sprint(i), moment, late)
	}
	poll.Until(t.Context(), 6*patient, func() bool { return false })
	elapsed := time.Since(begin)

	tw.checkSame(t)
	tw.checkResumed(t, begin)
	got := tw.checkEnds(t, map[string]int{"headers": 3}, "server")
	watches := len(tw.wrapped.requests("watch"))
	if most := 2 + int(elapsed/patient); watches > most {
		t.Errorf("%d watches in %v, want at most one each %v:\n%v", watches, elapsed, patient, tw.wrapped.requests("watch"))
	}
	results.figures(t, map[string]float64{
		"edits": edits, "slowest_s": seconds(slowest), "ended_headers": got["headers"], "seconds": seconds(elapsed),
		"watches_wrapped": float64(watches), "watches_stock": float64(len(tw.stock.requests("watch"))),
	})
}
