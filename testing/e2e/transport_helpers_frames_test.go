// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"k8s.io/client-go/rest"
)

// wire is what was seen of the HTTP/2 frames between a client and the API server.
type wire struct {
	relay *relay

	mu          sync.Mutex
	connections int
	// silences are for how long the client had been sent nothing when it sent each
	// of its PINGs.
	silences []time.Duration
	answers  int // PINGs that the server has acknowledged
}

// startWire runs a relay that reads frames.
func startWire(t *testing.T, upstream *rest.Config) *wire {
	t.Helper()
	w := &wire{}
	w.relay = startRelay(t, upstream, protocolHTTP2, w.connect)
	return w
}

// connect returns what reads the frames of a new connection.
func (w *wire) connect() (toServer, toClient io.Writer) {
	w.mu.Lock()
	w.connections++
	w.mu.Unlock()
	var mu sync.Mutex
	last := time.Now() // the client was last sent something
	up := w.read(true, func(f http2.Frame) {
		if ping, ok := f.(*http2.PingFrame); ok && !ping.IsAck() {
			mu.Lock()
			silence := time.Since(last)
			mu.Unlock()
			w.mu.Lock()
			defer w.mu.Unlock()
			w.silences = append(w.silences, silence)
		}
	})
	down := w.read(false, func(f http2.Frame) {
		mu.Lock()
		last = time.Now()
		mu.Unlock()
		if ping, ok := f.(*http2.PingFrame); ok && ping.IsAck() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.answers++
		}
	})
	return up, down
}

// read returns where to write the bytes of a direction. Each frame is passed to see.
func (w *wire) read(preface bool, see func(http2.Frame)) io.Writer {
	r := &frameReader{see: see}
	if preface {
		r.skip = len(http2.ClientPreface)
	}
	r.framer = http2.NewFramer(io.Discard, &r.bytes)
	r.framer.SetReuseFrames()
	r.framer.SetMaxReadFrameSize(1<<24 - 1)
	return r
}

// frameReader reads frames as they are complete, while they are written to it.
type frameReader struct {
	skip   int // bytes that are no frames
	bytes  bytes.Buffer
	framer *http2.Framer
	see    func(http2.Frame)
}

// Write implements io.Writer. It fails where the bytes are no HTTP/2.
func (r *frameReader) Write(p []byte) (int, error) {
	r.bytes.Write(p)
	r.skip -= len(r.bytes.Next(r.skip))
	for r.complete() {
		f, err := r.framer.ReadFrame()
		if err != nil {
			return 0, err
		}
		r.see(f)
	}
	return len(p), nil
}

// complete tells whether a whole frame is there (RFC 9113, 4.1).
func (r *frameReader) complete() bool {
	const header = 9
	b := r.bytes.Bytes()
	return len(b) >= header && len(b) >= header+int(binary.BigEndian.Uint32(b)>>8)
}

// pings returns the silences that each PING ended, so far, how many of them were
// answered, and on how many connections.
func (w *wire) pings() (silences []time.Duration, answers, connections int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.silences), w.answers, w.connections
}
