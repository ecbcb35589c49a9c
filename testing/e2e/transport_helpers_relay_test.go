// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"k8s.io/client-go/rest"
)

// protocolHTTP1 and protocolHTTP2 are names of ALPN (RFC 7301).
const (
	protocolHTTP1 = "http/1.1"
	protocolHTTP2 = http2.NextProtoTLS
)

// relay ends TLS on both sides, with one protocol, and passes on unchanged what is
// inside.
type relay struct {
	protocol string
	tap      func() (toServer, toClient io.Writer) // called for each connection; nil: nobody listens
	listener net.Listener
	pem      []byte
	upstream string
	dialer   tls.Dialer
	ctx      context.Context
	wg       sync.WaitGroup
}

// startRelay runs a relay to the API server of a config until the end of the test.
func startRelay(t *testing.T, upstream *rest.Config, protocol string, tap func() (toServer, toClient io.Writer)) *relay {
	t.Helper()
	cert, caPEM := selfSigned(t)
	conf, err := rest.TLSConfigFor(upstream)
	if err != nil {
		t.Fatal(err)
	}
	conf.NextProtos = []string{protocol}
	r := &relay{
		protocol: protocol, tap: tap, pem: caPEM,
		upstream: strings.TrimPrefix(upstream.Host, "https://"), dialer: tls.Dialer{Config: conf},
	}
	r.listener, err = tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{protocol},
	})
	if err != nil {
		t.Fatal(err)
	}
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithCancel(context.WithoutCancel(t.Context()))
	r.wg.Go(func() { r.accept(t) })
	t.Cleanup(func() { cancel(); _ = r.listener.Close(); r.wg.Wait() })
	return r
}

// config returns a copy that talks to the relay.
func (r *relay) config(base *rest.Config) *rest.Config {
	cfg := rest.CopyConfig(base)
	cfg.Host = "https://" + r.listener.Addr().String()
	cfg.TLSClientConfig = rest.TLSClientConfig{CAData: r.pem}
	return cfg
}

func (r *relay) accept(t *testing.T) {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		r.wg.Go(func() {
			defer conn.Close()
			r.serve(t, conn.(*tls.Conn))
		})
	}
}

func (r *relay) serve(t *testing.T, client *tls.Conn) {
	if err := client.HandshakeContext(r.ctx); err != nil {
		return // it thought better of it
	}
	if got := client.ConnectionState().NegotiatedProtocol; got != r.protocol {
		t.Errorf("a client speaks %q to the relay, want %q", got, r.protocol)
		return
	}
	conn, err := r.dialer.DialContext(r.ctx, "tcp", r.upstream)
	if err != nil {
		return
	}
	server := conn.(*tls.Conn)
	defer server.Close()
	stop := context.AfterFunc(r.ctx, func() { _, _ = client.Close(), server.Close() })
	defer stop()
	up, down := io.Writer(server), io.Writer(client)
	if r.tap != nil {
		toServer, toClient := r.tap()
		// Before it is passed on, so that an answer is never seen before what it answers.
		up, down = io.MultiWriter(toServer, server), io.MultiWriter(toClient, client)
	}
	var wg sync.WaitGroup
	pass := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from)
		_, _ = client.Close(), server.Close()
	}
	wg.Go(func() { pass(up, client) })
	wg.Go(func() { pass(down, server) })
	wg.Wait()
}

// selfSigned makes a certificate for 127.0.0.1 that is its own authority.
func selfSigned(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
