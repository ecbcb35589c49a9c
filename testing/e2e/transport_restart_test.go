// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// TestTransportBearsRestartOfServer kills the API server itself and starts it
// again, without a proxy in between that would answer in its place.
func TestTransportBearsRestartOfServer(t *testing.T) {
	realServerTest(t)
	p := ownPlane(t)
	s := &server{plane: p, kind: configMaps, ns: p.namespace(t, "twins")}
	for i := range population {
		s.put(t, fmt.Sprintf("object-%d", i), before)
	}
	direct := func(agent string) *twin {
		return &twin{server: s, agent: agent, config: s.watch(p.Config(), agent), saw: map[string]time.Time{}}
	}
	tw := &twins{server: s, wrapped: direct(twinAgent), stock: direct(stockAgent)}
	tw.transport = wrap(t, tw.wrapped.config, transport.Options{})
	tw.startSynced(t, nil)
	sleepUntil(t.Context(), time.Now().Add(4*time.Second)) // a watch that ends at once is another matter

	if err := p.Restart(t.Context(), controlplane.APIServer); err != nil {
		t.Fatal(err)
	}
	moment := tw.edit(t, after)
	figures := map[string]float64{}
	for _, w := range tw.both() {
		if !poll.Until(t.Context(), patience, func() bool { return w.sees(after) }) {
			t.Errorf("%s does not see the edit %v after the restart", w.agent, patience)
		}
		figures["seen_s_"+w.agent] = seconds(time.Since(moment))
		figures["relisted_"+w.agent] = float64(s.meter.refilled(w.agent) - population)
	}
	tw.checkSame(t)
	// A server that has just started knows no history: it answers 410 to a
	// resourceVersion from before, where others have written in the meantime, and
	// then everybody lists.
	if n := figures["relisted_"+twinAgent]; n > figures["relisted_"+stockAgent] {
		t.Errorf("the wrapped informer was sent %v objects again, the stock one %v", n, figures["relisted_"+stockAgent])
	}
	tw.checkEnds(t, map[string]int{"connection": 1}, "server", "client", "status")
	results.figures(t, figures)
}
