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

// TestTransportEndsWatchPastItsTimeout has a server that never ends its watches
// and says nothing any more.
func TestTransportEndsWatchPastItsTimeout(t *testing.T) {
	realServerTest(t)
	const (
		asked = 10 * time.Second
		grace = 3 * time.Second
	)
	tw := newTwins(t, transport.Options{Grace: grace})
	held := tw.api.Inject(tw.match("watch"), faultproxy.HoldOpen{})
	tw.startSynced(t, asking(asked))
	awaitHits(t, held, 2)
	fault := tw.edit(t, after)

	seen := tw.wrapped.await(t, after, fault, grace+late)
	second := poll.Until(t.Context(), 2*(asked+grace)+late, func() bool { return len(tw.wrapped.requests("watch")) >= 4 })
	if !second {
		t.Errorf("the watch that followed was not ended too:\n%v", tw.wrapped.requests("watch"))
	}
	tw.stock.checkBlind(t, after)
	blind := time.Since(fault)
	over := checkAges(t, tw.wrapped.requests("watch"), asked+grace)
	held.Lift()
	tw.stock.await(t, after, fault, blind+patience)

	tw.checkSame(t)
	tw.checkResumed(t, fault)
	got := tw.checkEnds(t, map[string]int{"age": 3}, "server")
	results.figures(t, map[string]float64{
		"seen_s": seconds(seen), "stock_blind_s": seconds(blind), "past_deadline_s": seconds(over), "ended_age": got["age"],
	})
}

// checkAges fails if one of the watches that are over was ended before its
// deadline, or long after, and returns how long after at most.
func checkAges(t *testing.T, watches requestList, deadline time.Duration) (most time.Duration) {
	t.Helper()
	for _, r := range watches {
		if r.Open {
			continue
		}
		over := r.Duration - deadline
		if over < -early || over > late {
			t.Errorf("a watch was open for %v, want %v:\n%v", r.Duration, deadline, watches)
		}
		most = max(most, over)
	}
	return most
}

// TestTransportEndsWatchOfServerThatIgnoresTimeouts has a server that goes on
// delivering past the timeout. That is no stall, and costs nothing but a renewal.
func TestTransportEndsWatchOfServerThatIgnoresTimeouts(t *testing.T) {
	realServerTest(t)
	const (
		asked = 5 * time.Second
		grace = 2 * time.Second
		edits = 100
	)
	tw := newTwins(t, transport.Options{Grace: grace})
	tw.api.Inject(tw.match("watch"), faultproxy.HoldOpen{StripTimeout: true})
	tw.startSynced(t, asking(asked))
	begin := time.Now()
	for i := range edits {
		tw.edit(t, fmt.Sprint(i))
		sleepUntil(t.Context(), begin.Add(time.Duration(i)*200*time.Millisecond))
	}

	tw.checkSame(t)
	tw.checkResumed(t, begin)
	checkAges(t, tw.wrapped.requests("watch"), asked+grace)
	got := tw.checkEnds(t, map[string]int{"age": 2})
	if n := len(tw.stock.requests("watch")); n != 1 {
		t.Errorf("the stock informer has sent %d watches, want 1: the server ends none", n)
	}
	missed := 0
	for i := range edits {
		if !tw.wrapped.sees(fmt.Sprint(i)) {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("the wrapped informer has missed %d of %d edits", missed, edits)
	}
	results.figures(t, map[string]float64{"ended_age": got["age"], "edits": edits, "missed": float64(missed)})
}

// TestTransportBoundsWatches looks at what is asked of the server for informers as
// client-go makes them, where nothing is wrong.
func TestTransportBoundsWatches(t *testing.T) {
	realServerTest(t)
	const bound = transport.MinMaxWatch
	tw := newTwins(t, transport.Options{MaxWatch: bound})
	begin := time.Now()
	tw.startSynced(t, nil)
	synced := time.Now()
	// The first watch, with initial events, and two that are bounded.
	if !poll.Until(t.Context(), 3*bound+patience, func() bool { return len(tw.wrapped.requests("watch")) >= 4 }) {
		t.Fatalf("watches are not renewed:\n%v", tw.wrapped.requests("watch"))
	}
	for i, r := range tw.wrapped.requests("watch") {
		asked := time.Duration(r.TimeoutSeconds) * time.Second
		if r.SendInitialEvents != (i == 0) || r.SendInitialEvents != (asked > bound) || asked < bound*3/4 {
			t.Errorf("watch %d asks for initial events: %t, and %v; want the first alone to, and the others between %v and %v", i, r.SendInitialEvents, asked, bound*3/4, bound)
		}
	}
	if first := tw.wrapped.requests("watch")[0]; first.Duration < bound*3/4-early || first.Duration > bound+late {
		t.Errorf("the watch with the initial events was renewed after %v, want between %v and %v, and a bit", first.Duration, bound*3/4, bound)
	}
	for _, r := range tw.stock.requests("watch") {
		if asked := time.Duration(r.TimeoutSeconds) * time.Second; asked < 5*time.Minute || !r.Open {
			t.Errorf("the stock informer's watch asks for %v, open: %t; want 5 minutes or more, and still open", asked, r.Open)
		}
	}

	moment := tw.edit(t, after)
	tw.wrapped.await(t, after, moment, patience)
	tw.checkSame(t)
	tw.checkResumed(t, synced)
	got := tw.checkEnds(t, map[string]int{"renewed": 1, "server": 2})
	results.figures(t, map[string]float64{
		"watches_wrapped": float64(len(tw.wrapped.requests("watch"))), "watches_stock": float64(len(tw.stock.requests("watch"))),
		"ended_server": got["server"], "seconds": seconds(time.Since(begin)),
	})
}
