// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clientauthenticationv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/transport"
)

// pings is what a server is to see of one client in a minute, and after it has fallen silent.
type pings struct {
	Every []time.Duration // after the connection began
	Ended []time.Duration // the connection, after the server had fallen silent
}

// every returns the PINGs of a minute.
func every(interval time.Duration) []time.Duration {
	var all []time.Duration
	for at := interval; at <= time.Minute; at += interval {
		all = append(all, at)
	}
	return all
}

// pingable is a client with a server of its own.
type pingable struct {
	name     string
	opts     *transport.Options // nil: not wrapped
	readIdle time.Duration
	timeout  time.Duration
	change   func(*testing.T, *rest.Config) // before Wrap
}

// pingsOf runs the clients beside each other, all on one dialer and trusting one authority, so that client-go tells
// their transports apart by nothing but what Wrap does. It returns what their servers saw.
func pingsOf(t *testing.T, clients []pingable) map[string]pings {
	t.Helper()
	network, ca := newMemoryNetwork(), newAuthority(t, "authority")
	servers := map[string]*frameServer{}
	begin := time.Now()
	for _, c := range clients {
		srv := startFrameServer(t, network.listen(c.name+".test:443"), ca)
		cfg := srv.config()
		cfg.Dial = network.dial
		if c.change != nil {
			c.change(t, cfg)
		}
		if c.opts != nil {
			wrap(t, cfg, *c.opts)
		}
		open(t, clientFor(t, cfg), srv.url+logPath)
		servers[c.name] = srv
	}
	pass(time.Minute)
	synctest.Wait()
	got := map[string]pings{}
	for _, c := range clients {
		got[c.name] = pings{Every: servers[c.name].pinged(begin)}
		servers[c.name].silence()
	}
	silent := time.Now()
	pass(2 * time.Minute)
	for _, c := range clients {
		seen := got[c.name]
		seen.Ended = servers[c.name].ended(silent)
		got[c.name] = seen
	}
	return got
}

// expectPings is exact, since bubbles are.
func expectPings(t *testing.T, clients []pingable) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		want := map[string]pings{}
		for _, c := range clients {
			all := every(c.readIdle)
			// The next PING remains without an answer.
			next := all[len(all)-1] + c.readIdle - time.Minute
			want[c.name] = pings{Every: all, Ended: []time.Duration{next + c.timeout}}
		}
		if diff := cmp.Diff(want, pingsOf(t, clients)); diff != "" {
			t.Errorf("PINGs on the wire (-want +got):\n%s", diff)
		}
	})
}

// opaque is a user's wrapper that says nothing about what it wraps.
type opaque struct{ rt http.RoundTripper }

func (o opaque) RoundTrip(req *http.Request) (*http.Response, error) { return o.rt.RoundTrip(req) }

// Configs in one process have PING settings of their own, which no environment variable gives or takes away.
func TestPingsPerConfig(t *testing.T) {
	clients := []pingable{
		{name: "least", opts: &transport.Options{ReadIdleTimeout: time.Second, PingTimeout: time.Second},
			readIdle: time.Second, timeout: time.Second},
		{name: "odd", opts: &transport.Options{ReadIdleTimeout: 7 * time.Second, PingTimeout: 3 * time.Second},
			readIdle: 7 * time.Second, timeout: 3 * time.Second},
		{name: "default", opts: &transport.Options{},
			readIdle: transport.DefaultReadIdleTimeout, timeout: transport.DefaultPingTimeout},
		{name: "opaque", opts: &transport.Options{ReadIdleTimeout: 11 * time.Second, PingTimeout: 2 * time.Second},
			readIdle: 11 * time.Second, timeout: 2 * time.Second,
			change: func(_ *testing.T, cfg *rest.Config) {
				cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return opaque{rt} })
			}},
		{name: "compressed", opts: &transport.Options{ReadIdleTimeout: 11 * time.Second, PingTimeout: 2 * time.Second},
			readIdle: 11 * time.Second, timeout: 2 * time.Second,
			change: func(_ *testing.T, cfg *rest.Config) { cfg.DisableCompression = true }},
		{name: "plugin", opts: &transport.Options{ReadIdleTimeout: 11 * time.Second, PingTimeout: 2 * time.Second},
			readIdle: 11 * time.Second, timeout: 2 * time.Second,
			change: func(t *testing.T, cfg *rest.Config) {
				helper := newPlugin(t)
				helper.answer(t, time.Hour, clientauthenticationv1.ExecCredentialStatus{Token: "secret"})
				cfg.ExecProvider = helper.config(t)
			}},
	}
	stock := pingable{name: "stock", readIdle: 30 * time.Second, timeout: 15 * time.Second}
	t.Run("no variable", func(t *testing.T) {
		expectPings(t, append(slices.Clone(clients), stock))
	})
	t.Run("client-go's variables", func(t *testing.T) {
		t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "13")
		t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "4")
		stock.readIdle, stock.timeout = 13*time.Second, 4*time.Second
		expectPings(t, append(slices.Clone(clients), stock))
	})
}

// PINGs pass through the tunnels of proxies.
func TestPingsThroughProxy(t *testing.T) {
	const readIdle = 7 * time.Second
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, ca := newMemoryNetwork(), newAuthority(t, "authority")
				srv := startFrameServer(t, network.listen("api.test:443"), ca)
				var proxyCA *authority
				if scheme == "https" {
					proxyCA = ca
				}
				p := startProxy(t, network.listen("proxy.test:3128"), proxyCA, network.dial)
				cfg := srv.config()
				cfg.Dial, cfg.Proxy = network.dial, http.ProxyURL(p.url)
				wrap(t, cfg, transport.Options{ReadIdleTimeout: readIdle})
				begin := time.Now()
				open(t, clientFor(t, cfg), srv.url+logPath)
				pass(time.Minute)
				if diff := cmp.Diff(every(readIdle), srv.pinged(begin)); diff != "" {
					t.Errorf("PINGs on the wire (-want +got):\n%s", diff)
				}
				if got := p.asked(); len(got) != 1 || got[0].Target != "api.test:443" {
					t.Errorf("the proxy was asked for %v, want one tunnel to the server", got)
				}
			})
		})
	}
}

// With a client certificate from files, client-go puts a dialer of its own, which closes connections, and a goroutine
// between. Neither fits into a bubble; on the wall clock, a PING in good time tells the settings from client-go's 30 s.
func TestPingsWithClientCertificateFiles(t *testing.T) {
	ca := newAuthority(t, "authority")
	cert, key := ca.issue(t, "client")
	file := newCredentialFile(t, "client.pem", cert, key)
	use := func() {
		srv := startFrameServer(t, listen(t), ca)
		cfg := srv.config()
		cfg.CertFile, cfg.KeyFile = string(file), string(file)
		wrap(t, cfg, transport.Options{ReadIdleTimeout: time.Second})
		client := clientFor(t, cfg)
		begin := time.Now()
		open(t, client, srv.url+logPath)
		eventually(t, "three PINGs", func() bool { return len(srv.pinged(begin)) >= 3 })
		if got := srv.pinged(begin)[0]; got < time.Second || got > 15*time.Second {
			t.Errorf("the first PING came after %v, want about 1s", got)
		}
		srv.close()
	}
	use()
	collected(t, "dynamicClientCert")
}
