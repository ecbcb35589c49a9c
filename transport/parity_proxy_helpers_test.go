// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
)

// proxy is an HTTP proxy that tunnels (CONNECT) and notes where to, and for whom.
type proxy struct {
	url  *url.URL
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	http *http.Server
	done sync.WaitGroup

	mu     sync.Mutex
	asks   []tunnel
	conns  []net.Conn
	closed bool
}

// tunnel is what a client has asked a proxy for.
type tunnel struct{ Target, Authorization string }

// startProxy starts one at the listener, over TLS if there is an authority to sign its certificate.
func startProxy(t *testing.T, l net.Listener, ca *authority, dial func(context.Context, string, string) (net.Conn, error)) *proxy {
	t.Helper()
	p := &proxy{url: &url.URL{Scheme: "http", Host: l.Addr().String()}, dial: dial}
	p.http = &http.Server{Handler: p, ErrorLog: log.New(io.Discard, "", 0), Protocols: &http.Protocols{}}
	p.http.Protocols.SetHTTP1(true)
	if ca != nil {
		p.url.Scheme = "https"
		cert := ca.serverCertificate(t, p.url.Hostname())
		p.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	}
	p.done.Go(func() {
		if ca != nil {
			_ = p.http.ServeTLS(l, "", "")
		} else {
			_ = p.http.Serve(l)
		}
	})
	t.Cleanup(p.close)
	return p
}

// close ends the tunnels too.
func (p *proxy) close() {
	_ = p.http.Close()
	p.mu.Lock()
	p.closed = true
	for _, conn := range p.conns {
		conn.Close()
	}
	p.mu.Unlock()
	p.done.Wait()
}

// asked returns the tunnels so far.
func (p *proxy) asked() []tunnel {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asks)
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
		return
	}
	p.mu.Lock()
	p.asks = append(p.asks, tunnel{r.Host, r.Header.Get("Proxy-Authorization")})
	p.mu.Unlock()
	server, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		server.Close()
		return
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	p.tunnel(client, server, buffered)
}

// tunnel copies both ways until one end closes.
func (p *proxy) tunnel(client, server net.Conn, sent io.Reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		client.Close()
		server.Close()
		return
	}
	p.conns = append(p.conns, client, server)
	pipe := func(dst io.Writer, src io.Reader) {
		defer client.Close()
		defer server.Close()
		_, _ = io.Copy(dst, src)
	}
	p.done.Go(func() { pipe(server, sent) })
	p.done.Go(func() { pipe(client, server) })
}
