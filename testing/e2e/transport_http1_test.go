// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// TestTransportHTTP1 makes the faults where there are no PINGs, because a proxy or
// the client itself speaks nothing but HTTP/1.1. (What DISABLE_HTTP2 does to a
// client is what NextProtos does: client-go then leaves HTTP/2 out of its
// transport.) Stock client-go never notices any of them.
//
// The kernel does not notice either, as it does on a real network: all of this is
// on one host, which acknowledges what nobody reads.
func TestTransportHTTP1(t *testing.T) {
	realServerTest(t)
	protocols := map[string]struct {
		way     wayOptions
		clients []string // NextProtos
	}{
		"proxy":  {way: wayOptions{toClients1: true, toServer1: true}},
		"client": {way: wayOptions{toServer1: true}, clients: []string{protocolHTTP1}},
	}
	faults := map[string]func(*way) *faultproxy.Injection{
		"silent streams": func(w *way) *faultproxy.Injection {
			return w.api.Inject(faultproxy.Match{Verb: "watch"}, faultproxy.Silence{OnlyOpen: true})
		},
		"first hop black-holed": func(w *way) *faultproxy.Injection {
			return w.front.Blackhole(faultproxy.Blackhole{Existing: true})
		},
		"dead upstream": func(w *way) *faultproxy.Injection {
			return w.back.Blackhole(faultproxy.Blackhole{Existing: true})
		},
	}
	p := sharedPlane.Get(t)
	k := custom("OneDotOne")
	for protocol, by := range protocols {
		for name, fault := range faults {
			t.Run(protocol+", "+name, func(t *testing.T) {
				t.Parallel()
				w := newWay(t, p, by.way)
				cfg := w.config()
				cfg.NextProtos = by.clients
				e := newEdits(t, p, k, p.namespace(t, "http1"), edited)
				wrapped := wrappedSide(t, cfg, twinAgent, transport.Options{IdleTimeout: shortIdle})
				stock := stockSide(t, cfg, stockAgent)
				wrapped.inform(t, nil, e)
				stock.inform(t, nil, e)
				flow(t, wrapped, stock)
				checkProtocol(t, w, "HTTP/1.1")

				if inj := fault(w); inj.Hits() < 2 {
					t.Errorf("%v: %d hits, want the wrapped client and the stock one", inj, inj.Hits())
				}
				begin := e.make(t)
				if !poll.Until(t.Context(), patience, wrapped.showsAll) {
					t.Fatalf("the edit is not there after %v:\n%v", time.Since(begin), w.told(twinAgent))
				}
				took := wrapped.latest(begin)
				if took > shortIdle+starved {
					t.Errorf("the edit was seen after %v, want at most %v:\n%v", took, shortIdle, w.told(twinAgent))
				}
				if got := w.bill(twinAgent, begin); got.lists != 0 {
					t.Errorf("%d lists sent %d objects again, want none:\n%v", got.lists, got.objects, w.told(twinAgent))
				}
				if got := ends(t, wrapped.guard)["watch"]["idle"]; got < 1 {
					t.Errorf("no watch was ended because it was idle: %v", ends(t, wrapped.guard))
				}
				checkStaysBlind(t, w, stock)
				results.figures(t, map[string]float64{"seen_s": seconds(took)})
			})
		}
	}
}

// checkProtocol fails unless all requests were made in it.
func checkProtocol(t *testing.T, w *way, want string) {
	t.Helper()
	for _, r := range w.api.Requests(faultproxy.Match{}) {
		if r.Protocol != want {
			t.Errorf("%s by %s in %s, want %s", r.Path, r.UserAgent, r.Protocol, want)
		}
	}
}
