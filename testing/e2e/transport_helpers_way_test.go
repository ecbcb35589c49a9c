// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// way is how the clients of one test reach the API server:
//
//	client -> front -> api -> back -> kube-apiserver
//
// front is a load balancer on the transport layer, api a proxy that ends TLS,
// answers PINGs and keeps accounts, and back the wire behind it.
type way struct {
	plane       *plane
	front, back *faultproxy.TCP
	api         *faultproxy.API
}

// wayOptions are what proxies differ by.
type wayOptions struct {
	// toClients1: api speaks nothing but HTTP/1.1 to its clients.
	toClients1 bool
	// toServer1: api speaks nothing but HTTP/1.1 to the API server, as most proxies
	// do. Each stream then has a connection of its own behind api. With HTTP/2 all
	// share one.
	toServer1 bool
}

func newWay(t *testing.T, p *plane, opts wayOptions) *way {
	t.Helper()
	upstream := p.Config()
	if opts.toServer1 {
		upstream = startRelay(t, upstream, protocolHTTP1, nil).config(upstream)
	}
	w := &way{plane: p, back: startTCP(t, strings.TrimPrefix(upstream.Host, "https://"))}
	var err error
	if w.api, err = faultproxy.NewAPI(upstream, faultproxy.APIOptions{HTTP1Only: opts.toClients1, Via: w.back.Addr()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.api.Close() })
	w.front = startTCP(t, w.api.Addr())
	return w
}

// config returns that of a client.
func (w *way) config() *rest.Config {
	cfg := w.api.Config(w.plane.Config())
	cfg.Host = "https://" + w.front.Addr()
	return cfg
}

// bill is what a client has asked for, and was sent.
type bill struct {
	requests, watches, proofs int
	// lists are those that fill a cache, by LIST or by WatchList, and objects what
	// they brought.
	lists   int
	objects int64
	bytes   int64 // of bodies
	refused int   // answered by a proxy that has nobody to ask
	// slowestProof explains a renewed watch: its read was still on its way when the
	// bookmark was.
	slowestProof time.Duration
}

// bill returns what a client has asked for since a moment. What comes on streams
// that are older is not on it: it may go to nobody.
func (w *way) bill(agent string, since time.Time) bill {
	var b bill
	for _, r := range w.api.Requests(faultproxy.Match{UserAgent: agent}) {
		if r.Start.Before(since) {
			continue
		}
		b.requests++
		b.bytes += r.BytesDown
		if r.Status == http.StatusBadGateway {
			b.refused++
		}
		switch {
		case r.Verb == "watch" && !r.SendInitialEvents:
			b.watches++
		case r.Verb == "watch" || r.Verb == "list" && r.Limit != 1:
			b.lists++
			b.objects += r.Objects + r.InitialObjects
		case r.Verb == "list":
			b.proofs++
			b.slowestProof = max(b.slowestProof, r.Duration)
		}
	}
	return b
}

// told lists a client's requests for people.
func (w *way) told(agent string) requestList {
	return w.api.Requests(faultproxy.Match{UserAgent: agent})
}

// clients returns the connections on which a client's open watches are, as the
// proxy sees them.
func (w *way) clients(agent string) map[string]int {
	out := map[string]int{}
	for _, r := range w.api.Requests(faultproxy.Match{UserAgent: agent, Verb: "watch"}) {
		if r.Open {
			out[r.Client]++
		}
	}
	return out
}
