// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// A dialer of the user's is asked for every connection, with what client-go asks it for.
func TestDial(t *testing.T) {
	parityInBubble(t, func(t *testing.T, f flavour) {
		network := newMemoryNetwork()
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443")})
		cfg := srv.config()
		cfg.Dial = network.dial
		client := f.client(t, cfg)
		get(t, client, srv.url)
		get(t, client, srv.url)
		if diff := cmp.Diff([]string{"tcp api.test:443"}, network.dials()); diff != "" {
			t.Errorf("dials (-want +got):\n%s", diff)
		}
	})
}

// An error of the user's dialer reaches whoever made the request.
func TestDialError(t *testing.T) {
	refused := errors.New("not today")
	for name, url := range map[string]string{
		"object": "https://api.test/api/v1/namespaces/default/pods/p",
		"list":   "https://api.test/api/v1/pods",
		"watch":  "https://api.test/api/v1/pods?watch=true",
	} {
		t.Run(name, func(t *testing.T) {
			parity(t, func(t *testing.T, f flavour) {
				client := f.client(t, &rest.Config{
					Dial: func(context.Context, string, string) (net.Conn, error) { return nil, refused },
				})
				if _, _, err := try(t, client, url); !errors.Is(err, refused) {
					t.Errorf("the request ended in %v, want the dialer's error", err)
				}
			})
		})
	}
}

// A name to expect on the certificate other than the host, as with a tunnel or an IP address, is asked for by SNI and
// verified.
func TestTLSServerName(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		srv := startServer(t, serverOptions{name: "api.internal"})
		cfg := srv.config()
		cfg.ServerName = "api.internal"
		get(t, f.client(t, cfg), srv.url)
		if got := srv.last(t).ServerName; got != "api.internal" {
			t.Errorf("the client asked for %q, want api.internal", got)
		}
		var mismatch x509.HostnameError
		if _, _, err := try(t, f.client(t, srv.config()), srv.url); !errors.As(err, &mismatch) {
			t.Errorf("without ServerName the request ended in %v, want the wrong host refused", err)
		}
	})
}

// Insecure accepts any certificate; without it, one of an unknown authority is refused.
func TestInsecure(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		srv := startServer(t, serverOptions{})
		get(t, f.client(t, &rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true}}), srv.url)
		cfg := srv.config()
		cfg.CAData = newAuthority(t, "another").pem
		var unknown x509.UnknownAuthorityError
		if _, _, err := try(t, f.client(t, cfg), srv.url); !errors.As(err, &unknown) {
			t.Errorf("with another authority the request ended in %v, want the certificate refused", err)
		}
	})
}

// HTTP/2 is what TLS and the config's protocols allow, and HTTP/1.1 works where they do not.
func TestProtocol(t *testing.T) {
	for _, tc := range []struct {
		name   string
		server serverOptions
		protos []string
		want   string
	}{
		{name: "negotiated", want: "HTTP/2.0"},
		{name: "allowed", protos: []string{"h2", "http/1.1"}, want: "HTTP/2.0"},
		{name: "not wanted by the client", protos: []string{"http/1.1"}, want: "HTTP/1.1"},
		{name: "unknown to the server", server: serverOptions{http1: true}, want: "HTTP/1.1"},
		{name: "no TLS", server: serverOptions{plain: true}, want: "HTTP/1.1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parity(t, func(t *testing.T, f flavour) {
				objects := newConfigMaps("a")
				tc.server.handler = objects.serve
				srv := startServer(t, tc.server)
				cfg := srv.config()
				if tc.server.plain {
					cfg.CAData = nil
				}
				cfg.NextProtos = tc.protos
				f.apply(t, cfg)
				informer := startInformer(t, cfg)
				eventually(t, "the first object", func() bool { return holds(informer, "a") })
				objects.create("b")
				eventually(t, "an event", func() bool { return holds(informer, "b") })
				if got := srv.last(t).Proto; got != tc.want {
					t.Errorf("the server was spoken to in %s, want %s", got, tc.want)
				}
			})
		})
	}
}

// DISABLE_HTTP2 is client-go's own switch.
func TestDisableHTTP2(t *testing.T) {
	t.Setenv("DISABLE_HTTP2", "true")
	parity(t, func(t *testing.T, f flavour) {
		srv := startServer(t, serverOptions{})
		get(t, f.client(t, srv.config()), srv.url)
		if got := srv.last(t).Proto; got != "HTTP/1.1" {
			t.Errorf("the server was spoken to in %s, want HTTP/1.1", got)
		}
	})
}

// A connection that has been read to the end is used again, whatever was read, where a request needs one of its own too.
func TestConnectionsAreReused(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		srv := startServer(t, serverOptions{http1: true})
		client := f.client(t, srv.config())
		for range 2 {
			for _, path := range []string{podPath, podsPath, watchPath, logPath} {
				get(t, client, srv.url+path)
			}
		}
		if got := srv.connections(); got != 1 {
			t.Errorf("%d connections, want 1", got)
		}
	})
}

// Each client has a connection of its own, and an anonymous copy of a config, which keeps Dial and nothing that wraps,
// still works.
func TestCopiedConfigs(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		srv := startServer(t, serverOptions{})
		cfg := srv.config()
		cfg.BearerToken = "secret"
		f.apply(t, cfg)
		get(t, clientFor(t, rest.CopyConfig(cfg)), srv.url)
		if got := srv.last(t).Header.Get("Authorization"); got != "Bearer secret" {
			t.Errorf("the copy sent %q, want the token", got)
		}
		get(t, clientFor(t, rest.AnonymousClientConfig(cfg)), srv.url)
		if got := srv.last(t).Header.Get("Authorization"); got != "" {
			t.Errorf("the anonymous copy sent %q, want nothing", got)
		}
	})
}

// What apimachinery finds by unwrapping a transport is still found: the TLS settings and the dialer, as proxies and
// upgrades ask for, and the idle connections, which it closes.
func TestUnwrapping(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		srv := startServer(t, serverOptions{})
		cfg := srv.config()
		cfg.ServerName = "127.0.0.1"
		var dials atomic.Int32
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		client := f.client(t, cfg)
		settings, err := utilnet.TLSClientConfig(client.Transport)
		if err != nil || settings == nil || settings.ServerName != "127.0.0.1" {
			t.Errorf("TLSClientConfig found %v, %v", settings, err)
		}
		dial, err := utilnet.DialerFor(client.Transport)
		if err != nil || dial == nil {
			t.Fatalf("DialerFor found %v", err)
		}
		conn, err := dial(t.Context(), "tcp", strings.TrimPrefix(srv.url, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		get(t, client, srv.url)
		utilnet.CloseIdleConnectionsFor(client.Transport)
		get(t, client, srv.url)
		if got := dials.Load(); got != 3 {
			t.Errorf("%d dials, want one of our own, and one before and one after the idle connection was closed", got)
		}
	})
}
