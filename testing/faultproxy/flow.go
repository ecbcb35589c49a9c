// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// segmentSize is how much is read at once, and segmentQueue how many of these may be under way in one direction of one
// connection while they are delayed.
const (
	segmentSize  = 32 << 10
	segmentQueue = 64
)

// flow is one connection. Its mutable state is guarded by the proxy's mutex: there are few, and they change with the faults.
type flow struct {
	proxy          *TCP
	id             uint64
	client, server *net.TCPConn
	ctx            context.Context
	cancel         context.CancelFunc
	opened, last   time.Time
	passed         [3]int64 // by Direction
	dead           bool
	closing        sync.Once
}

func newFlow(p *TCP, id uint64, client *net.TCPConn) *flow {
	now := time.Now()
	f := &flow{proxy: p, id: id, client: client, opened: now, last: now}
	f.ctx, f.cancel = context.WithCancel(p.ctx)
	return f
}

// run forwards until both directions have ended.
func (f *flow) run() {
	defer f.proxy.forget(f)
	defer f.close(false)
	stop := context.AfterFunc(f.ctx, func() { f.close(false) })
	defer stop()
	if !f.awaitOpen(ToServer) || !f.dial() {
		return
	}
	var wg sync.WaitGroup
	for _, d := range []Direction{ToServer, ToClient} {
		src, dst := f.client, f.server
		if d == ToClient {
			src, dst = dst, src
		}
		queue := make(chan segment, segmentQueue)
		wg.Go(func() { f.read(d, src, queue) })
		wg.Go(func() { f.write(d, dst, queue) })
	}
	wg.Wait()
}

func (f *flow) dial() bool {
	d := net.Dialer{Timeout: f.proxy.opts.DialTimeout}
	conn, err := d.DialContext(f.ctx, "tcp", f.proxy.target)
	if err != nil {
		f.close(true)
		return false
	}
	f.proxy.mu.Lock()
	f.server = conn.(*net.TCPConn)
	f.proxy.mu.Unlock()
	if f.ctx.Err() != nil {
		_ = conn.Close()
		return false
	}
	return true
}

// segment is what was read at once and when it is to arrive.
type segment struct {
	data []byte
	due  time.Time
	err  error
}

func (f *flow) read(d Direction, src *net.TCPConn, queue chan<- segment) {
	defer close(queue)
	buf := make([]byte, segmentSize)
	for f.awaitOpen(d) {
		n, err := src.Read(buf)
		seg := segment{data: append([]byte(nil), buf[:n]...), due: f.touch(time.Now()), err: err}
		select {
		case queue <- seg:
		case <-f.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (f *flow) write(d Direction, dst *net.TCPConn, queue <-chan segment) {
	for seg := range queue {
		if !sleepUntil(f.ctx, seg.due) || !f.send(d, dst, seg.data) {
			break
		}
		if seg.err == nil {
			continue
		}
		if !f.awaitOpen(d) || !errors.Is(seg.err, io.EOF) {
			break
		}
		_ = dst.CloseWrite()
		return
	}
	f.close(true) // either side has broken the connection: the other is to see it broken, too
}

// send writes as fast as the faults of the moment allow. It reports whether everything was written.
func (f *flow) send(d Direction, dst *net.TCPConn, data []byte) bool {
	for len(data) > 0 {
		n, wait := f.proxy.reserve(d, len(data))
		if !sleepUntil(f.ctx, time.Now().Add(wait)) || !f.awaitOpen(d) {
			return false
		}
		if _, err := dst.Write(data[:n]); err != nil {
			return false
		}
		f.proxy.mu.Lock()
		f.passed[d] += int64(n)
		f.proxy.mu.Unlock()
		data = data[n:]
	}
	return true
}

// awaitOpen blocks while a fault holds this direction, and reports whether the flow still lives.
func (f *flow) awaitOpen(d Direction) bool {
	for f.ctx.Err() == nil {
		changed := f.proxy.changed.next()
		if !f.blocked(d) {
			return true
		}
		select {
		case <-changed:
		case <-f.ctx.Done():
		}
	}
	return false
}

func (f *flow) blocked(d Direction) bool {
	f.proxy.mu.Lock()
	defer f.proxy.mu.Unlock()
	if f.dead {
		return true
	}
	for _, h := range f.proxy.faults.holes {
		if h.covers(f.id, d) {
			return true
		}
	}
	return false
}

// touch notes that something was read, unless the flow has been idle for too long by then, and returns when it is to arrive.
func (f *flow) touch(now time.Time) time.Time {
	f.proxy.mu.Lock()
	defer f.proxy.mu.Unlock()
	f.dropIfIdleLocked(now)
	f.last = now
	for _, r := range f.proxy.faults.delays {
		now = now.Add(r.delay)
		r.inj.hit()
	}
	return now
}

func (f *flow) dropIfIdleLocked(now time.Time) {
	for _, r := range f.proxy.faults.idle {
		if !f.dead && now.Sub(f.last) > r.after {
			f.dead = true
			r.inj.hit()
		}
	}
}

// close ends both connections, with an RST if reset is set, else with a FIN. It reports whether they were open.
func (f *flow) close(reset bool) (wasOpen bool) {
	f.closing.Do(func() {
		wasOpen = true
		f.cancel()
		f.proxy.mu.Lock()
		defer f.proxy.mu.Unlock()
		for _, c := range []*net.TCPConn{f.client, f.server} {
			if c == nil {
				continue
			}
			if reset {
				_ = c.SetLinger(0)
			}
			_ = c.Close()
		}
	})
	return wasOpen
}
