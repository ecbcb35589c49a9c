// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"

	"github.com/go-logr/logr"
)

// EtcdOptions configures an etcd proxy; the zero value works.
type EtcdOptions struct {
	// TLS is used towards an etcd whose URL is https. Defaults to the system's authorities and no client certificate.
	// Towards the API server the proxy always speaks plain HTTP/2.
	TLS *tls.Config
	// Logger gets one line for each injection and lift, and connection errors at V(1). Defaults to none.
	Logger logr.Logger
}

// Etcd is a proxy between an API server and etcd, or anything that speaks etcd's gRPC. Unary calls always pass; faults act
// on the messages of Watch streams, so that the API server's watch cache is what suffers. HTTP/2 PINGs are answered on
// both sides. All methods are safe for concurrent use.
type Etcd struct {
	target   *url.URL
	listener net.Listener
	server   *http.Server
	grpc     *http.Transport
	http1    *http.Transport
	journal  *journal
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	rules   []*etcdRule
	streams map[*watchStream]struct{}
	lastID  uint64
}

// NewEtcd listens on a free port of 127.0.0.1 and forwards to an etcd client URL, such as http://127.0.0.1:2379. It fails
// if the URL is not one, or no port is free; it does not dial etcd before a request comes.
func NewEtcd(targetURL string, opts EtcdOptions) (*Etcd, error) {
	target, err := url.Parse(targetURL)
	if err != nil {
		return nil, fmt.Errorf("targetURL: %w", err)
	}
	if (target.Scheme != "http" && target.Scheme != "https") || target.Host == "" {
		return nil, fmt.Errorf("targetURL %q: must be http://host:port or https://host:port", targetURL)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	p := &Etcd{
		target: target, listener: ln, journal: newJournal(opts.Logger), streams: map[*watchStream]struct{}{},
		grpc: newEtcdTransport(opts.TLS, true), http1: newEtcdTransport(opts.TLS, false),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	stdLog := errorLog(p.journal.logger)
	// No FlushInterval: streams are flushed after every read because their length is unknown, and an answer that consists
	// of nothing but trailers must not be split in two.
	proxy := &httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: roundTripFunc(p.roundTrip), ErrorLog: stdLog,
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	p.server = &http.Server{Handler: p.handler(proxy), Protocols: protocols, ErrorLog: stdLog, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: etcdStreams}}
	p.wg.Go(func() { _ = p.server.Serve(ln) })
	return p, nil
}

func newEtcdTransport(conf *tls.Config, http2 bool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	protocols.SetUnencryptedHTTP2(http2)
	return &http.Transport{TLSClientConfig: conf, Protocols: protocols, DisableCompression: true, MaxIdleConnsPerHost: 64}
}

// URL returns what to give to kube-apiserver's --etcd-servers.
func (p *Etcd) URL() string { return "http://" + p.Addr() }

// Addr returns the address that the proxy listens on, as host:port.
func (p *Etcd) Addr() string { return p.listener.Addr().String() }

// Record returns what was injected and lifted and when, oldest first; the newest 4096 entries are kept.
func (p *Etcd) Record() []Entry { return p.journal.record() }

// Close ends all faults, closes the listener and all connections on both sides, and waits for the requests under way.
func (p *Etcd) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	err := p.server.Close()
	p.journal.close()
	p.wg.Wait()
	p.grpc.CloseIdleConnections()
	p.http1.CloseIdleConnections()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// etcdStreams is more than any client opens on one connection; etcd itself sets no limit.
const etcdStreams = 1 << 20

type watchStreamKey struct{}

// handler serves one call.
func (p *Etcd) handler(proxy http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := p.begin(r)
		if s == nil {
			return
		}
		defer p.end(s)
		if r.URL.Path == watchMethod {
			r.Body = &watchUpload{ReadCloser: r.Body, stream: s}
			r = r.WithContext(context.WithValue(r.Context(), watchStreamKey{}, s))
		}
		proxy.ServeHTTP(w, r)
	})
}

// begin registers a call; only those that watch are more than a number. It returns nil if the proxy is closed.
func (p *Etcd) begin(r *http.Request) *watchStream {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.wg.Add(1)
	p.lastID++
	s := newWatchStream(p, p.lastID)
	if r.URL.Path == watchMethod {
		p.streams[s] = struct{}{}
	}
	return s
}

func (p *Etcd) end(s *watchStream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.streams, s)
	p.wg.Done()
}

// rewrite aims a call at etcd. Messages have to be readable, so that compression is not on offer; etcd's clients do not
// compress unless they are told to.
func (p *Etcd) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(p.target)
	r.Out.Header.Del("Grpc-Accept-Encoding")
}

func (p *Etcd) roundTrip(r *http.Request) (*http.Response, error) {
	if r.ProtoMajor == 1 { // health, version and metrics
		return p.http1.RoundTrip(r)
	}
	s, watching := r.Context().Value(watchStreamKey{}).(*watchStream)
	if !watching {
		return p.grpc.RoundTrip(r)
	}
	ctx, cancel := context.WithCancel(r.Context())
	resp, err := p.grpc.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	return newWatchBody(ctx, cancel, s, resp).response(), nil
}
