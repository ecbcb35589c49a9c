// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/freshwatch/freshwatch/transport"
)

// A client that nobody uses any more leaves no connection behind once it has been idle for 90 s, and no goroutine: the
// bubble waits for every one.
func TestUnusedClientGoesAway(t *testing.T) {
	parityInBubble(t, func(t *testing.T, f flavour) {
		network := newMemoryNetwork()
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443")})
		cfg := srv.config()
		cfg.Dial = network.dial
		client := f.client(t, cfg)
		for _, path := range []string{podPath, podsPath, watchPath} {
			get(t, client, srv.url+path)
		}
		if got := srv.open(); got != 1 {
			t.Fatalf("%d connections are open, want 1", got)
		}
		pass(2 * time.Minute)
		if got := srv.open(); got != 0 {
			t.Errorf("%d connections are open after two idle minutes", got)
		}
	})
}

// What Wrap returns may be kept for ever, as a collector of metrics is: it keeps no client's transport alive.
func TestTransportKeepsNoClientAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newMemoryNetwork()
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443")})
		var freed atomic.Bool
		// A frame of its own, so that nothing on the stack refers to the client.
		use := func() *transport.Transport {
			cfg := srv.config()
			cfg.Dial = network.dial
			tr := wrap(t, cfg, transport.Options{})
			client := clientFor(t, cfg)
			for _, path := range []string{podPath, podsPath, watchPath} {
				get(t, client, srv.url+path)
			}
			runtime.AddCleanup(httpTransport(t, client.Transport), func(freed *atomic.Bool) { freed.Store(true) }, &freed)
			return tr
		}
		tr := use()
		pass(5 * time.Minute) // idle connections and their timers keep a transport for a while
		for range 1000 {
			runtime.GC()
			if freed.Load() {
				break
			}
			pass(time.Second)
		}
		if !freed.Load() {
			t.Error("the client's transport is no garbage")
		}
		runtime.KeepAlive(tr)
	})
}

// client-go ends the goroutine that looks for new client certificates when the client's transport is garbage. What Wrap
// returns, kept for ever, does not stand in its way.
func TestTransportKeepsNoRotationAlive(t *testing.T) {
	ca := newAuthority(t, "authority")
	srv := startServer(t, serverOptions{ca: ca, clients: ca})
	cert, key := ca.issue(t, "client")
	file := newCredentialFile(t, "client.pem", cert, key)
	use := func() *transport.Transport {
		cfg := srv.config()
		cfg.CertFile, cfg.KeyFile = string(file), string(file)
		tr := wrap(t, cfg, transport.Options{})
		client := clientFor(t, cfg)
		for _, path := range []string{podPath, podsPath, watchPath} {
			get(t, client, srv.url+path)
		}
		if !running("dynamicClientCert") {
			t.Error("nothing looks for new certificates")
		}
		runtime.KeepAlive(client)
		return tr
	}
	tr := use()
	collected(t, "dynamicClientCert")
	runtime.KeepAlive(tr)
}

// httpTransport unwraps.
func httpTransport(t *testing.T, rt http.RoundTripper) *http.Transport {
	t.Helper()
	for {
		switch found := rt.(type) {
		case *http.Transport:
			return found
		case utilnet.RoundTripperWrapper:
			rt = found.WrappedRoundTripper()
		default:
			t.Fatalf("%T wraps nothing", rt)
		}
	}
}
