// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// upgrades are the requests that client-go's remotecommand and portforward packages upgrade: POST to SPDY, GET to
// WebSocket. The query of the last one is a trap.
var upgrades = []struct{ name, method, path, protocol string }{
	{"exec over SPDY", http.MethodPost, podPath + "/exec?command=sh&stdin=true&stdout=true", "SPDY/3.1"},
	{"exec over WebSocket", http.MethodGet, podPath + "/exec?command=sh&stdin=true&stdout=true", "websocket"},
	{"attach over WebSocket", http.MethodGet, podPath + "/attach?stdout=true", "websocket"},
	{"port-forward over SPDY", http.MethodPost, podPath + "/portforward", "SPDY/3.1"},
	{"port-forward over WebSocket", http.MethodGet, podPath + "/portforward?ports=80", "websocket"},
	{"exec that says watch", http.MethodGet, podPath + "/exec?command=watch&watch=true", "websocket"},
}

// Upgraded connections are dialed by a round tripper of client-go's remotecommand and portforward, which the config's
// wrappers only pass the request to: they are no business of Wrap, and work in both directions after an hour of silence.
func TestUpgradedConnections(t *testing.T) {
	for _, tc := range upgrades {
		t.Run(tc.name, func(t *testing.T) {
			parityInBubble(t, func(t *testing.T, f flavour) {
				network := newMemoryNetwork()
				srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), http1: true, handler: upgraded})
				cfg := srv.config()
				cfg.Dial, cfg.BearerToken = network.dial, "secret"
				f.apply(t, cfg)
				settings, err := rest.TLSConfigFor(cfg)
				if err != nil {
					t.Fatal(err)
				}
				up := &upgrader{settings: settings, dial: network.dial}
				rt, err := rest.HTTPWrappersForConfig(cfg, up)
				if err != nil {
					t.Fatal(err)
				}
				if found, err := utilnet.TLSClientConfig(rt); err != nil || found != settings {
					t.Errorf("TLSClientConfig found %p, %v, want the upgrader's %p", found, err, settings)
				}
				resp, err := (&http.Client{Transport: rt}).Do(upgradeRequest(t, tc.method, srv.url+tc.path, tc.protocol))
				if err != nil {
					t.Fatal(err)
				}
				defer up.conn.Close()
				resp.Body.Close() // as client-go does at once
				expectEcho(t, resp, tc.protocol, up.conn, up.reader)
				if got := srv.last(t); got.URI != tc.path || got.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("the server was asked for %s with %q", got.URI, got.Header.Get("Authorization"))
				}
			})
		})
	}
}

// The same through the config's own transport, as reverse proxies do it: net/http hands out the connection as a body
// that can be written to.
func TestUpgradedBodies(t *testing.T) {
	for _, tc := range upgrades {
		t.Run(tc.name, func(t *testing.T) {
			parityInBubble(t, func(t *testing.T, f flavour) {
				network := newMemoryNetwork()
				srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: upgraded})
				cfg := srv.config()
				cfg.Dial, cfg.NextProtos = network.dial, []string{"http/1.1"}
				resp, err := f.client(t, cfg).Do(upgradeRequest(t, tc.method, srv.url+tc.path, tc.protocol))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				conn, ok := resp.Body.(io.ReadWriteCloser)
				if !ok {
					t.Fatalf("the body is a %T, which cannot be written to", resp.Body)
				}
				expectEcho(t, resp, tc.protocol, conn, conn)
			})
		})
	}
}

func upgradeRequest(t *testing.T, method, url, protocol string) *http.Request {
	t.Helper()
	req := newRequest(t.Context(), t, method, url, http.NoBody)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", protocol)
	return req
}

// expectEcho writes after a long silence, and reads what comes back after another one.
func expectEcho(t *testing.T, resp *http.Response, protocol string, w io.Writer, r io.Reader) {
	t.Helper()
	if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Upgrade") != protocol {
		t.Fatalf("answered with %s, Upgrade %q", resp.Status, resp.Header.Get("Upgrade"))
	}
	pass(longSilence)
	if _, err := io.WriteString(w, "hello"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("hello"))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "hello" {
		t.Errorf("read %q, %v after two long silences, want what was written", got, err)
	}
}

// upgraded takes over the connection, and sends back what it gets, late.
func upgraded(w http.ResponseWriter, r *http.Request) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	head := "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + r.Header.Get("Upgrade") + "\r\n\r\n"
	if _, err := io.WriteString(conn, head); err != nil {
		return
	}
	for {
		b, err := buffered.ReadByte()
		if err != nil {
			return
		}
		if b == 'h' {
			pass(longSilence)
		}
		if _, err := conn.Write([]byte{b}); err != nil {
			return
		}
	}
}

// upgrader is what SPDY's and WebSocket's round trippers in client-go are to the wrappers around them: it dials by
// itself, hands on the response, and keeps the connection.
type upgrader struct {
	settings *tls.Config
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	conn     net.Conn
	reader   *bufio.Reader
}

// TLSClientConfig implements utilnet.TLSClientConfigHolder, as client-go's do.
func (u *upgrader) TLSClientConfig() *tls.Config { return u.settings }

func (u *upgrader) RoundTrip(req *http.Request) (*http.Response, error) {
	raw, err := u.dial(req.Context(), "tcp", req.URL.Host)
	if err != nil {
		return nil, err
	}
	settings := u.settings.Clone()
	settings.ServerName = req.URL.Hostname()
	u.conn = tls.Client(raw, settings)
	u.reader = bufio.NewReader(u.conn)
	if err := req.Write(u.conn); err != nil {
		return nil, err
	}
	return http.ReadResponse(u.reader, req)
}
