// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// request is what a server has seen of one.
type request struct {
	Method, URI, Proto string
	Header             http.Header
	Body               string
	Connection         int    // counted from 1
	ServerName         string // that the client asked for
	CommonName         string // of the client's certificate
}

// serverOptions has no required field.
type serverOptions struct {
	listener net.Listener // on the loopback interface by default
	name     string       // on the certificate: the listener's host by default
	ca       *authority   // that has signed it: a new one by default
	clients  *authority   // of the client certificates that are required: none by default
	http1    bool         // no HTTP/2
	plain    bool         // no TLS
	handler  http.HandlerFunc
}

// server is a real one, over TLS, that notes what is asked of it and answers "ok" where the test has no handler.
type server struct {
	url  string
	ca   *authority
	http *http.Server

	done   sync.WaitGroup
	mu     sync.Mutex
	log    []request
	dialed int
	gone   int // of the dialed connections
}

func startServer(t *testing.T, o serverOptions) *server {
	t.Helper()
	if o.listener == nil {
		o.listener = listen(t)
	}
	host, _, err := net.SplitHostPort(o.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if o.name == "" {
		o.name = host
	}
	if o.ca == nil {
		o.ca = newAuthority(t, "authority")
	}
	s := &server{url: "https://" + o.listener.Addr().String(), ca: o.ca}
	s.http = &http.Server{
		Handler:     s.handler(o.handler),
		ConnContext: s.number,
		ConnState:   s.noteGone,
		TLSConfig:   &tls.Config{Certificates: []tls.Certificate{o.ca.serverCertificate(t, o.name)}, MinVersion: tls.VersionTLS12},
		ErrorLog:    log.New(io.Discard, "", 0), // handshakes fail where a test wants them to
	}
	if o.clients != nil {
		s.http.TLSConfig.ClientCAs = o.clients.pool()
		s.http.TLSConfig.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if o.http1 {
		s.http.Protocols = &http.Protocols{}
		s.http.Protocols.SetHTTP1(true)
	}
	s.done.Go(func() {
		if o.plain {
			_ = s.http.Serve(o.listener)
			return
		}
		_ = s.http.ServeTLS(o.listener, "", "")
	})
	if o.plain {
		s.url = "http://" + o.listener.Addr().String()
	}
	t.Cleanup(s.close)
	return s
}

// listen listens on the loopback interface.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// close ends every request. Further calls do nothing.
func (s *server) close() {
	_ = s.http.Close()
	s.done.Wait()
}

// config is for clients of the server that trust it.
func (s *server) config() *rest.Config {
	return &rest.Config{Host: s.url, TLSClientConfig: rest.TLSClientConfig{CAData: s.ca.pem}, QPS: -1}
}

// requests returns what has been asked so far.
func (s *server) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// last returns the newest request.
func (s *server) last(t *testing.T) request {
	t.Helper()
	all := s.requests()
	if len(all) == 0 {
		t.Fatal("no request has arrived")
	}
	return all[len(all)-1]
}

// connections returns how many have been accepted so far.
func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialed
}

// open returns how many of them have not ended.
func (s *server) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialed - s.gone
}

func (s *server) noteGone(_ net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gone++
	}
}

type connectionNumber struct{}

func (s *server) number(ctx context.Context, _ net.Conn) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialed++
	return context.WithValue(ctx, connectionNumber{}, s.dialed)
}

func (s *server) handler(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seen := request{Method: r.Method, URI: r.RequestURI, Proto: r.Proto, Header: r.Header.Clone()}
		seen.Connection, _ = r.Context().Value(connectionNumber{}).(int)
		if r.TLS != nil {
			seen.ServerName = r.TLS.ServerName
			if len(r.TLS.PeerCertificates) > 0 {
				seen.CommonName = r.TLS.PeerCertificates[0].Subject.CommonName
			}
		}
		if r.Method == http.MethodPost && r.ContentLength > 0 {
			body, _ := io.ReadAll(r.Body)
			seen.Body = string(body)
		}
		s.mu.Lock()
		s.log = append(s.log, seen)
		s.mu.Unlock()
		if next == nil {
			fmt.Fprint(w, "ok")
			return
		}
		next(w, r)
	}
}

// send writes a piece of a response that reaches the client now.
func send(w http.ResponseWriter, piece string) {
	_, _ = io.WriteString(w, piece)
	_ = http.NewResponseController(w).Flush()
}
