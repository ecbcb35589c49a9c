// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// API is a proxy between clients and an API server that ends TLS and HTTP on both sides, like a service mesh or an
// application load balancer: it answers its clients' HTTP/2 PINGs itself, whatever the API server does. Faults are aimed
// at requests (Match), and every request is counted. All methods are safe for concurrent use.
type API struct {
	opts     APIOptions
	upstream *url.URL
	caPEM    []byte
	tls      *tls.Config
	listener net.Listener
	proxy    *httputil.ReverseProxy
	forward  http.RoundTripper // with the caller's credentials
	sign     http.RoundTripper // with the upstream config's credentials, or nil
	idle     []*http.Transport
	journal  *journal
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	conns    map[*clientConn]struct{}
	rules    []*rule
	live     map[uint64]*exchange
	lastID   uint64
	requests *ring[*exchange]
	series   map[seriesKey]*series
}

// NewAPI listens on a free port of 127.0.0.1, with HTTP/2 and HTTP/1.1 over TLS and a certificate of its own, and forwards to
// the API server of upstream: its host and CA are used, its credentials only with APIOptions.UseUpstreamCredentials. It
// fails if upstream or an option is invalid, or no port is free; it does not dial the API server before a request comes.
func NewAPI(upstream *rest.Config, opts APIOptions) (*API, error) {
	if upstream == nil {
		return nil, errors.New("upstream: must not be nil")
	}
	if err := opts.complete(); err != nil {
		return nil, err
	}
	target, _, err := rest.DefaultServerUrlFor(upstream)
	if err != nil {
		return nil, fmt.Errorf("upstream.Host %q: %w", upstream.Host, err)
	}
	cert, caPEM, err := selfMade(time.Now())
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	p := &API{
		opts: opts, upstream: upstreamRoot(target, upstream.Host), caPEM: caPEM,
		tls:     &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
		journal: newJournal(opts.Logger),
		conns:   map[*clientConn]struct{}{}, live: map[uint64]*exchange{},
		requests: newRing[*exchange](opts.RequestLimit), series: map[seriesKey]*series{},
	}
	if err := p.connectTo(upstream); err != nil {
		return nil, err
	}
	p.proxy = &httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: roundTripFunc(p.roundTrip), ErrorHandler: p.fail,
		ErrorLog: errorLog(opts.Logger),
		// Every read is flushed at once: a proxy that collects bytes would be a fault nobody asked for.
		FlushInterval: -1,
	}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(func() { acceptAll(p.ctx, p.listener, p.adopt) })
	return p, nil
}

// upstreamRoot is the URL that requests are sent below. DefaultServerUrlFor adds /api; a path in the host stays.
func upstreamRoot(target *url.URL, host string) *url.URL {
	root := &url.URL{Scheme: target.Scheme, Host: target.Host}
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		root.Path = strings.TrimSuffix(u.Path, "/")
	}
	return root
}

// Addr returns the address that the proxy listens on, as host:port.
func (p *API) Addr() string { return p.listener.Addr().String() }

// URL returns the proxy's base URL.
func (p *API) URL() string { return "https://" + p.Addr() }

// CA returns the certificate of the authority that signed the proxy's, in PEM.
func (p *API) CA() []byte { return bytes.Clone(p.caPEM) }

// Config returns a copy of base that talks to the proxy: host and CA are replaced, and client certificates dropped, since
// they cannot pass. Tokens, user agent, rate limits and wrappers stay.
func (p *API) Config(base *rest.Config) *rest.Config {
	c := rest.CopyConfig(base)
	c.Host = p.URL()
	c.TLSClientConfig = rest.TLSClientConfig{CAData: p.CA(), NextProtos: base.NextProtos}
	return c
}

// Record returns what was injected and lifted and when, oldest first; the newest 4096 entries are kept.
func (p *API) Record() []Entry { return p.journal.record() }

// Close ends all faults, closes the listener and all connections on both sides, and waits for the requests under way.
func (p *API) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.cancel()
	p.journal.close()
	for _, c := range p.connections() {
		c.close()
	}
	p.wg.Wait()
	for _, t := range p.idle {
		t.CloseIdleConnections()
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
