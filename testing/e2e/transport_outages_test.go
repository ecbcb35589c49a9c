// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// TestTransportBearsRefusedConnections is a minute without the API server.
func TestTransportBearsRefusedConnections(t *testing.T) {
	realServerTest(t)
	const away = time.Minute
	tw := newTwins(t, transport.Options{})
	tw.startSynced(t, nil)
	awaitOpen(t, tw.wrapped)
	awaitOpen(t, tw.stock)

	accept := refuseNew(t, tw.tcp)
	tw.tcp.Reset()
	fault := tw.edit(t, after)
	poll.Until(t.Context(), away, func() bool { return false })
	for _, w := range tw.both() {
		w.checkBlind(t, after)
	}
	failed := figure(t, tw.transport, "freshwatch_transport_dial_errors_total")
	if failed < 3 {
		t.Errorf("%v dials were refused in %v, want several", failed, away)
	}
	lifted := time.Now()
	accept()
	seen, stockSeen := tw.wrapped.await(t, after, lifted, patience), tw.stock.await(t, after, lifted, patience)

	tw.checkSame(t)
	tw.checkResumed(t, fault)
	if errs := tw.wrapped.errors(); len(errs) > 0 {
		t.Errorf("the wrapped informer has failed: %v", errs)
	}
	results.figures(t, map[string]float64{
		"seen_after_s": seconds(seen), "stock_seen_after_s": seconds(stockSeen), "refused_dials": failed,
		"relisted_wrapped": float64(tw.wrapped.refilled(fault)), "relisted_stock": float64(tw.stock.refilled(fault)),
	})
}

// TestTransportTellsTLSErrors has a CA that did not sign the server's certificate:
// no outage, and to be told as client-go tells it.
func TestTransportTellsTLSErrors(t *testing.T) {
	realServerTest(t)
	tw := newTwins(t, transport.Options{})
	stranger := startAPI(t, tw.plane)
	for _, w := range tw.both() {
		w.config.TLSClientConfig = rest.TLSClientConfig{CAData: stranger.CA()}
	}
	tw.start(t, nil)
	if !poll.Until(t.Context(), patience, func() bool { return len(tw.wrapped.errors()) >= 2 && len(tw.stock.errors()) >= 2 }) {
		t.Fatalf("the informers have failed with %v and %v, want each twice", tw.wrapped.errors(), tw.stock.errors())
	}
	for i, err := range tw.wrapped.errors()[:2] {
		if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); !unknown {
			t.Errorf("failure %d is %v, want the reason", i, err)
		}
		if want := tw.stock.errors()[i].Error(); err.Error() != want {
			t.Errorf("failure %d is\n%v, want, as without this package,\n%v", i, err, want)
		}
	}
	if n := tw.api.Counts(faultproxy.Match{UserAgent: twinAgent}).Requests; n != 0 || tw.wrapped.HasSynced() {
		t.Errorf("%d requests have arrived, want none", n)
	}
}
