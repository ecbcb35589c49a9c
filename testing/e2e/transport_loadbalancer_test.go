// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// slowTests is the environment variable that asks for tests that take longer than
// a few minutes, when it is "1".
const slowTests = "FRESHWATCH_SLOW"

// slowTest marks such a test.
func slowTest(t *testing.T) {
	t.Helper()
	realServerTest(t)
	if os.Getenv(slowTests) != "1" {
		t.Skipf("takes more than ten minutes: set %s=1 to run it; a scaled one has run", slowTests)
	}
}

// balancer is a load balancer that forgets flows, and clients behind it.
type balancer struct {
	// forgets is after how long without a byte it forgets a flow, quiet how long
	// nothing is edited, twice.
	forgets, quiet time.Duration
	// opts of the wrapped client.
	opts transport.Options
	// http1: the clients speak HTTP/1.1.
	http1 bool
	// within is when the stock client sees, at the earliest and at the latest, what
	// is edited first after a quiet spell. None: never.
	within []time.Duration
}

// TestTransportForgottenFlow scales Azure's load balancer, which forgets a flow
// after 240 s, down to a tenth and a fifth. Nothing is edited for longer than that;
// then every edit has to be seen at once.
func TestTransportForgottenFlow(t *testing.T) {
	realServerTest(t)
	for name, b := range map[string]balancer{
		// PINGs keep the flow. Those of stock client-go, every 30 s, come too late, and
		// when they are not answered for 15 s it lists again.
		"HTTP2": {
			forgets: 24 * time.Second, quiet: 27 * time.Second,
			opts:   transport.Options{ReadIdleTimeout: 2 * time.Second},
			within: []time.Duration{5 * time.Second, 40 * time.Second},
		},
		// Only a watch that ends in time does: the next one goes over the same flow.
		"HTTP1": {
			forgets: 45 * time.Second, quiet: 48 * time.Second,
			opts:  transport.Options{MaxWatch: 30 * time.Second},
			http1: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b.run(t)
		})
	}
}

// TestTransportForgottenFlowInRealTime does not scale, and uses the defaults. The
// PINGs of stock client-go come in time there.
func TestTransportForgottenFlowInRealTime(t *testing.T) {
	slowTest(t)
	const azure, quiet = 240 * time.Second, 290 * time.Second
	for name, b := range map[string]balancer{
		"HTTP2": {forgets: azure, quiet: quiet, within: []time.Duration{0, atOnce}},
		"HTTP1": {forgets: azure, quiet: quiet, http1: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b.run(t)
		})
	}
}

// atOnce is what a busy machine takes for an edit to be seen when nothing is wrong.
const atOnce = 5 * time.Second

func (b balancer) run(t *testing.T) {
	const spells, perSpell, apart = 2, 4, 3 * time.Second
	p := sharedPlane.Get(t)
	w := newWay(t, p, wayOptions{})
	// On a kind that nobody reads no bookmark may come for ten minutes. Where one
	// does, it keeps the flow, by luck.
	w.api.Inject(faultproxy.Match{Verb: "watch"}, faultproxy.WithholdBookmarks{})
	e := newEdits(t, p, custom("Balanced"), p.namespace(t, word(t.Name())), edited)
	cfg := w.config()
	if b.http1 {
		cfg.NextProtos = []string{protocolHTTP1}
	}
	wrapped, stock := wrappedSide(t, cfg, twinAgent, b.opts), stockSide(t, cfg, stockAgent)
	wrapped.inform(t, withoutWatchList, e)
	stock.inform(t, withoutWatchList, e)
	flow(t, wrapped, stock)
	begin := time.Now()
	w.front.IdleDrop(b.forgets)

	var after []int // the edits that come first after a quiet spell
	for range spells {
		poll.Until(t.Context(), b.quiet, func() bool { return false })
		after = append(after, e.last()+1)
		for range perSpell {
			e.make(t)
			poll.Until(t.Context(), apart, func() bool { return false })
		}
		if len(b.within) > 0 {
			poll.Until(t.Context(), patience, stock.showsAll) // the next spell is quiet for it, too
		}
	}
	if len(b.within) == 0 {
		checkStaysBlind(t, w, stock)
	}
	b.check(t, w, wrapped, stock, after, begin)
}

func (b balancer) check(t *testing.T, w *way, wrapped, stock *side, after []int, begin time.Time) {
	t.Helper()
	d, s := wrapped.diaries[0], stock.diaries[0]
	var worst time.Duration
	var stockDelays []time.Duration
	for n := after[0]; n <= d.edits.last(); n++ {
		delay, stockDelay := d.delay(n), s.delay(n)
		worst = max(worst, delay)
		if delay < 0 || delay > atOnce {
			t.Errorf("edit %d was seen after %v (negative: never), want at once", n, delay)
		}
		if slices.Contains(after, n) {
			stockDelays = append(stockDelays, stockDelay)
			b.checkStock(t, n, stockDelay)
		}
	}
	if got := w.bill(wrapped.agent, begin); got.lists != 0 {
		t.Errorf("%d lists, want none:\n%v", got.lists, w.told(wrapped.agent))
	}
	b.checkFlow(t, w, wrapped)
	t.Logf("the stock client saw the first edits after %v", stockDelays)
	figures := map[string]float64{"wrapped_latest_s": seconds(worst), "wrapped_watches": float64(w.bill(wrapped.agent, begin).watches)}
	if d := slices.Max(stockDelays); d >= 0 {
		figures["stock_latest_s"] = seconds(d)
	}
	results.figures(t, figures)
}

// checkStock fails unless the stock client is as late as it has to be for there to
// be a fault.
func (b balancer) checkStock(t *testing.T, n int, delay time.Duration) {
	t.Helper()
	switch {
	case len(b.within) == 0 && delay >= 0:
		t.Errorf("the stock client saw edit %d after %v: there was no fault", n, delay)
	case len(b.within) > 0 && (delay < b.within[0] || delay > b.within[1]):
		t.Errorf("the stock client saw edit %d after %v (negative: never), want between %v", n, delay, b.within)
	}
}

// checkFlow fails unless the wrapped client is on a connection that the load
// balancer knows, and has had no more of them than it had reason to.
func (b balancer) checkFlow(t *testing.T, w *way, wrapped *side) {
	t.Helper()
	streams := wrapped.guard.Streams()
	if len(streams) != 1 {
		t.Fatalf("open watches %v, want one", streams)
	}
	want := "HTTP/2.0"
	if b.http1 {
		want = "HTTP/1.1"
	}
	if got := streams[0].Protocol; got != want {
		t.Errorf("the watch is on %s, want %s", got, want)
	}
	for _, c := range w.front.Connections() {
		if c.Client == streams[0].Local && c.Dead {
			t.Errorf("the load balancer has forgotten the flow of the watch: %+v", c)
		}
	}
	connections := 1.0
	if b.http1 {
		connections += ends(t, wrapped.guard)["watch"]["idle"] // each takes its connection with it
	}
	if opened := figure(t, wrapped.guard, "freshwatch_transport_connections_opened_total"); opened != connections {
		t.Errorf("%v connections were opened, want %v", opened, connections)
	}
}
