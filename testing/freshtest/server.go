// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/freshtest/internal/memconn"
)

// host is what the clients connect to. They dial the listener in memory whatever it is, but localhost is never sent
// through a proxy that the environment names; and should a client lose the dialer, nothing listens on port 1.
const host = "localhost"

// maxStreams is how many requests a connection carries at once; HTTP/2 clients open another one beyond it.
const maxStreams = 1000

// Server is a scripted Kubernetes API server in this process. Its methods may be called concurrently.
type Server struct {
	cl        *cluster
	log       requestLog
	listener  *memconn.Listener
	http      *http.Server
	authority []byte // the certificate to trust, in PEM

	closed   bool           // guarded by cl.mu
	handlers sync.WaitGroup // requests being served
	loops    sync.WaitGroup // the server's own goroutines
}

// NewServer starts a server. It is to be closed. Inside a testing/synctest bubble it belongs to the bubble.
//
// The error names the option that is not valid, or says that PrepareBubbles has not been called.
func NewServer(options Options) (*Server, error) {
	if err := checkBubble(); err != nil {
		return nil, err
	}
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	certificate, authority, err := selfSigned(host)
	if err != nil {
		return nil, err
	}
	s := &Server{cl: newCluster(options), listener: memconn.Listen(host), authority: authority}
	s.http = &http.Server{
		Handler:   http.HandlerFunc(s.serve),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:  log.New(io.Discard, "", 0), // connections end in the middle: that is what the faults are for
	}
	s.loops.Go(func() { _ = s.http.ServeTLS(s.listener, "", "") }) // returns when the listener is closed
	s.loops.Go(s.cl.runBookmarks)
	return s, nil
}

// Start starts a server that the end of the test closes, and that reports its misuse as an error of the test.
func Start(t testing.TB, options Options) *Server {
	t.Helper()
	if options.Errorf == nil {
		options.Errorf = t.Errorf
	}
	s, err := NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Config returns a new config for clients of the server: HTTP/2 over TLS with a bearer token, through the dialer in
// memory, without a client-side rate limit. Every client made from a config has a connection of its own, as client-go
// does not share transports with a custom dialer; clients that are given one http.Client, as a manager's are, share it.
func (s *Server) Config() *rest.Config {
	return &rest.Config{
		Host:            "https://" + host + ":1",
		BearerToken:     s.cl.options.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.authority},
		Dial:            s.listener.DialContext,
		QPS:             -1,
	}
}

// Close ends every watch and every connection and waits until no request is served any more. Further calls do nothing.
func (s *Server) Close() {
	s.cl.mu.Lock()
	closed := s.closed
	s.closed = true
	s.cl.mu.Unlock()
	if !closed {
		close(s.cl.done)
		_ = s.http.Close()
		s.listener.Reset() // also what a black hole holds
	}
	s.handlers.Wait()
	s.loops.Wait()
}
