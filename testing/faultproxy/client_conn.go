// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"net"
	"net/http"
	"sync"
)

// clientConn is one connection of a client. Each has an http.Server of its own, because that is how net/http can be told to
// send GOAWAY on one connection and not on the others.
type clientConn struct {
	proxy  *API
	conn   *net.TCPConn
	server *http.Server
	once   *onceListener
	goAway sync.Once
	gone   sync.Once
	closed chan struct{}
}

// maxStreams is kube-apiserver's default (read at v1.37), so that a client opens as many connections as it would there.
const maxStreams = 100

func newClientConn(p *API, conn *net.TCPConn) *clientConn {
	c := &clientConn{
		proxy: p, conn: conn, closed: make(chan struct{}),
		once: &onceListener{conn: conn, done: make(chan struct{})},
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(!p.opts.HTTP1Only)
	c.server = &http.Server{
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.handle(c, w, r) }),
		TLSConfig: p.tls.Clone(),
		Protocols: protocols,
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:  errorLog(p.opts.Logger),
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateClosed {
				c.gone.Do(func() { close(c.closed) })
			}
		},
	}
	return c
}

// serve returns when the connection is closed.
func (c *clientConn) serve() {
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		_ = c.server.ServeTLS(c.once, "", "") // always an error: the listener has but one connection
	}()
	<-c.closed
	_ = c.once.Close()
	<-stop
	c.proxy.forget(c)
}

// close ends the connection and its requests.
func (c *clientConn) close() {
	_ = c.server.Close()
	_ = c.conn.Close()
}

// abort breaks the connection with an RST.
func (c *clientConn) abort() {
	_ = c.conn.SetLinger(0)
	_ = c.conn.Close()
}

// sendGoAway tells the client to take new requests elsewhere; streams go on. It reports whether this was the first time.
// With HTTP/1.1 the connection is closed after the request under way.
func (c *clientConn) sendGoAway() (first bool) {
	c.goAway.Do(func() {
		first = true
		c.proxy.wg.Go(func() { _ = c.server.Shutdown(c.proxy.ctx) })
	})
	return first
}

// onceListener accepts one connection, and then nothing until it is closed.
type onceListener struct {
	conn  net.Conn
	given bool
	close sync.Once
	done  chan struct{}
}

// Accept returns the connection the first time.
func (l *onceListener) Accept() (net.Conn, error) {
	if !l.given {
		l.given = true
		return l.conn, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

// Close ends Accept.
func (l *onceListener) Close() error {
	l.close.Do(func() { close(l.done) })
	return nil
}

// Addr returns the local address of the connection.
func (l *onceListener) Addr() net.Addr { return l.conn.LocalAddr() }
