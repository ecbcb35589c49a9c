// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// wire is a client that sees HTTP/2 frame by frame.
type wire struct {
	conn   *tls.Conn
	framer *http2.Framer
	stream uint32
}

func dialWire(t *testing.T, p *faultproxy.API) *wire {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(p.CA())
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}}, NetDialer: new(net.Dialer)}
	conn, err := dialer.DialContext(patient(t), "tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	w := &wire{conn: conn.(*tls.Conn), framer: http2.NewFramer(conn, conn), stream: 1}
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	if err := w.framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return w
}

// get sends a request.
func (w *wire) get(t *testing.T, path string) {
	t.Helper()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, h := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "proxy"}, {":path", path}} {
		if err := enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			t.Fatal(err)
		}
	}
	err := w.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: w.stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.stream += 2
}

func (w *wire) ping(t *testing.T) {
	t.Helper()
	if err := w.framer.WritePing(false, [8]byte{1}); err != nil {
		t.Fatal(err)
	}
}

// until reads frames up to the next of this type, and returns the types of those before it.
func (w *wire) until(t *testing.T, want http2.FrameType) []http2.FrameType {
	t.Helper()
	var before []http2.FrameType
	for {
		frame, err := w.framer.ReadFrame()
		if err != nil {
			t.Fatalf("after the frames %v, waiting for %v: %v", before, want, err)
		}
		if got := frame.Header().Type; got != want {
			before = append(before, got)
			continue
		}
		return before
	}
}
