// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"io"
	"net"
	"net/http"
)

func (p *API) adopt(conn *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = conn.Close()
		return
	}
	c := newClientConn(p, conn)
	p.conns[c] = struct{}{}
	p.wg.Go(c.serve)
}

func (p *API) forget(c *clientConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *API) connections() []*clientConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*clientConn, 0, len(p.conns))
	for c := range p.conns {
		out = append(out, c)
	}
	return out
}

// handle serves one request.
func (p *API) handle(c *clientConn, w http.ResponseWriter, r *http.Request) {
	ex := p.begin(c, r)
	if ex == nil {
		return
	}
	defer p.end(ex)
	if r.Header.Get("Upgrade") != "" {
		ex.status.Store(http.StatusNotImplemented)
		http.Error(w, "faultproxy: exec, attach, port-forward and other upgrades are not supported", http.StatusNotImplemented)
		return
	}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &countedUpload{ReadCloser: r.Body, ex: ex}
	}
	p.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, ex)))
}

// countedUpload counts what the client sends.
type countedUpload struct {
	io.ReadCloser
	ex *exchange
}

// Read reads from the client.
func (u *countedUpload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	u.ex.countUp(n)
	return n, err
}
