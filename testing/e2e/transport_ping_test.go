// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// TestTransportPingsPerConfig reads PING frames off the wire, of three configs in
// one process at the same time: two that are wrapped, with settings of their own,
// and one that is not.
func TestTransportPingsPerConfig(t *testing.T) {
	realServerTest(t)
	for _, name := range []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS", "DISABLE_HTTP2"} {
		if value, set := os.LookupEnv(name); set {
			t.Fatalf("%s=%s is set, but the configs alone are to make the difference", name, value)
		}
	}
	const (
		most  = 3 * time.Second // that a PING may be late by on a busy machine
		early = 500 * time.Millisecond
		// crossings are how many may be under way when a bookmark is: one comes after a
		// minute.
		crossings = 2
	)
	clients := []struct {
		name     string
		opts     *transport.Options // nil: stock
		interval time.Duration
		least    int // PINGs until the last of them has sent two
	}{
		{"2 s", &transport.Options{ReadIdleTimeout: 2 * time.Second}, 2 * time.Second, 10},
		{"default", &transport.Options{}, transport.DefaultReadIdleTimeout, 4},
		{"stock", nil, 30 * time.Second, 2},
	}

	p := sharedPlane.Get(t)
	e := newEdits(t, p, custom("Pinged"), p.namespace(t, word(t.Name())), edited)
	wires := make([]*wire, len(clients))
	sides := make([]*side, len(clients))
	for i, c := range clients {
		wires[i] = startWire(t, p.Config())
		cfg := wires[i].relay.config(p.Config())
		if c.opts == nil {
			sides[i] = stockSide(t, cfg, stockAgent)
		} else {
			sides[i] = wrappedSide(t, cfg, twinAgent, *c.opts)
		}
		sides[i].inform(t, nil, e)
	}
	flow(t, sides...)

	enough := func() bool {
		for i, c := range clients {
			if silences, _, _ := wires[i].pings(); len(silences) < c.least {
				return false
			}
		}
		return true
	}
	if !poll.Until(t.Context(), patience, enough) {
		t.Errorf("not enough PINGs within %v", patience)
	}
	flow(t, sides...) // over the same connections

	figures := map[string]float64{}
	for i, c := range clients {
		silences, answers, connections := wires[i].pings()
		t.Logf("%s: %d PINGs, %d answered, after silences of %v", c.name, len(silences), answers, silences)
		if connections != 1 {
			t.Errorf("%s: %d connections, want one", c.name, connections)
		}
		if answers < len(silences)-1 {
			t.Errorf("%s: %d of %d PINGs were answered", c.name, answers, len(silences))
		}
		tooEarly := 0
		for n, s := range silences {
			if s < c.interval-early {
				tooEarly++
			}
			if s > c.interval+most || tooEarly > crossings {
				t.Errorf("%s: PING %d came after a silence of %v, want %v", c.name, n, s, c.interval)
			}
		}
		if len(silences) > 0 {
			figures[word(c.name)+"_pings"] = float64(len(silences))
			figures[word(c.name)+"_shortest_s"] = seconds(slices.Min(silences))
			figures[word(c.name)+"_longest_s"] = seconds(slices.Max(silences))
		}
	}
	results.figures(t, figures)
}
