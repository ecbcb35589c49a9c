// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"k8s.io/client-go/rest"
)

// frameServer is an HTTP/2 server of which the test sees every PING. A request for a path that ends in "log" gets
// headers and then nothing; any other gets "ok".
type frameServer struct {
	url    string
	ca     *authority
	listen net.Listener
	done   sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	pings []time.Time
	mute  bool
	ends  []time.Time // of connections
}

func startFrameServer(t *testing.T, l net.Listener, ca *authority) *frameServer {
	t.Helper()
	host, _, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	f := &frameServer{url: "https://" + l.Addr().String(), ca: ca}
	f.listen = tls.NewListener(l, &tls.Config{
		Certificates: []tls.Certificate{ca.serverCertificate(t, host)},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{http2.NextProtoTLS},
	})
	f.done.Go(f.accept)
	t.Cleanup(f.close)
	return f
}

func (f *frameServer) config() *rest.Config {
	return &rest.Config{Host: f.url, TLSClientConfig: rest.TLSClientConfig{CAData: f.ca.pem}, QPS: -1}
}

// silence makes the server answer no PING from now on.
func (f *frameServer) silence() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mute = true
}

// pinged returns how long after begin each PING came.
func (f *frameServer) pinged(begin time.Time) []time.Duration { return f.since(begin, &f.pings) }

// ended returns how long after begin each connection ended.
func (f *frameServer) ended(begin time.Time) []time.Duration { return f.since(begin, &f.ends) }

func (f *frameServer) since(begin time.Time, times *[]time.Time) []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var after []time.Duration
	for _, at := range *times {
		after = append(after, at.Sub(begin))
	}
	return after
}

func (f *frameServer) close() {
	_ = f.listen.Close()
	f.mu.Lock()
	conns := slices.Clone(f.conns)
	f.mu.Unlock()
	for _, conn := range conns {
		conn.Close()
	}
	f.done.Wait()
}

func (f *frameServer) accept() {
	for {
		conn, err := f.listen.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.conns = append(f.conns, conn)
		f.mu.Unlock()
		f.done.Go(func() {
			defer conn.Close()
			f.serve(conn)
			f.mu.Lock()
			f.ends = append(f.ends, time.Now())
			f.mu.Unlock()
		})
	}
}

// serve answers one connection until it ends.
func (f *frameServer) serve(conn net.Conn) {
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := framer.WriteSettings(); err != nil {
		return
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() && f.notePing() {
				err = framer.WritePing(true, frame.Data)
			}
		case *http2.MetaHeadersFrame:
			err = answer(framer, frame)
		}
		if err != nil {
			return
		}
	}
}

// notePing tells whether the PING is to be answered.
func (f *frameServer) notePing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pings = append(f.pings, time.Now())
	return !f.mute
}

func answer(framer *http2.Framer, req *http2.MetaHeadersFrame) error {
	path, _, _ := strings.Cut(req.PseudoValue("path"), "?")
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	if err := encoder.WriteField(hpack.HeaderField{Name: ":status", Value: "200"}); err != nil {
		return err
	}
	err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: req.StreamID, BlockFragment: block.Bytes(), EndHeaders: true})
	if err != nil || strings.HasSuffix(path, "log") {
		return err
	}
	return framer.WriteData(req.StreamID, true, []byte("ok"))
}
