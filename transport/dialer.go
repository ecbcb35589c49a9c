// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// dialFunc is the type of rest.Config.Dial.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// dialer makes connections and remembers those that are open. That its method is
// a rest.Config's Dial also gives each http.Client that is made from the config a
// transport of its own, whose settings it shares with nobody (client-go 0.37,
// transport/cache.go).
type dialer struct {
	dial      dialFunc
	keepAlive net.KeepAliveConfig
	patience  time.Duration // TCP user timeout
	clock     clock.PassiveClock

	opened, failed, recycled, lost atomic.Uint64
	answered                       atomic.Int64 // when a request that is no list or watch last was, wall clock, in ns

	mu    sync.Mutex
	conns map[*connection]struct{}
}

func newDialer(dial dialFunc, o Options) *dialer {
	d := &dialer{
		dial: dial,
		// Three probes in about PingTimeout: the kernel counts in seconds.
		keepAlive: net.KeepAliveConfig{Enable: true, Idle: o.ReadIdleTimeout, Interval: max(time.Second, o.PingTimeout/3), Count: 3},
		patience:  o.ReadIdleTimeout + o.PingTimeout,
		clock:     o.Clock,
		conns:     map[*connection]struct{}{},
	}
	if d.dial == nil {
		d.dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAliveConfig: d.keepAlive}).DialContext
	}
	return d
}

// DialContext is the rest.Config's Dial.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	inner, err := d.dial(ctx, network, address)
	if err != nil || inner == nil { // net/http has an error for the latter
		d.failed.Add(1)
		noteDialFailure(ctx)
		return nil, err
	}
	tuneTCP(inner, d.keepAlive, d.patience)
	c := &connection{Conn: inner, dialer: d, opened: d.clock.Now()}
	d.opened.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[c] = struct{}{}
	return c, nil
}

// dialFailure is the key of a context's value.
type dialFailure struct{}

// withDialFailure has failed set if no connection can be opened for a request of
// that context. The error would not tell: that of a Dial of the user's own can be
// any.
func withDialFailure(ctx context.Context, failed *atomic.Bool) context.Context {
	return context.WithValue(ctx, dialFailure{}, failed)
}

func noteDialFailure(ctx context.Context) {
	if failed, ok := ctx.Value(dialFailure{}).(*atomic.Bool); ok {
		failed.Store(true)
	}
}

// recycle closes every connection.
func (d *dialer) recycle() int {
	d.mu.Lock()
	conns := d.conns
	d.conns = map[*connection]struct{}{}
	d.mu.Unlock()
	for c := range conns {
		c.recycled.Store(true)
		_ = c.Conn.Close() // it is gone, whatever this says
	}
	d.recycled.Add(uint64(len(conns)))
	return len(conns)
}

func (d *dialer) open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.conns)
}

// find returns what is known of a connection that net/http names: ours with TLS
// around it, and sometimes with a layer of client-go in between, which rotates
// client certificates and hides what it holds. Then the addresses tell.
func (d *dialer) find(c net.Conn) *connection {
	for {
		if found, ok := c.(*connection); ok {
			return found
		}
		inner, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		c = inner.NetConn()
	}
	if c == nil {
		return nil
	}
	name := endpoints(c)
	d.mu.Lock()
	defer d.mu.Unlock()
	for found := range d.conns {
		if endpoints(found) == name {
			return found
		}
	}
	return nil
}

// connection is one that the dialer made.
type connection struct {
	net.Conn

	dialer   *dialer
	opened   time.Time
	recycled atomic.Bool
	lost     atomic.Bool // it did not answer a PING
	silences atomic.Int32
	silent   atomic.Int64 // when the last of them was noted, wall clock, in ns
}

// maxSilences is how many lists and watches in a row may wait in vain for their
// headers, or a list for its rest, with nothing heard of any other, before their
// connection is given up. Some proxies hold back the headers of a quiet watch.
const maxSilences = 2

// heard notes that a list or watch has had an answer, or a byte of one.
func (c *connection) heard() {
	if c != nil && c.silences.Load() != 0 {
		c.silences.Store(0)
	}
}

// deaf notes that a list or watch has waited in vain for that long, and tells whether the
// connection was closed for that: its far end answers PINGs, and nobody behind it
// answers requests. Such as a proxy that has pinned it to a dead backend. Those that
// waited at the same time count once, and none while requests of other kinds are
// answered.
func (c *connection) deaf(now time.Time, waited time.Duration) bool {
	if c == nil || now.UnixNano()-c.silent.Load() < int64(waited)/2 {
		return false
	}
	c.silent.Store(now.UnixNano())
	if now.UnixNano()-c.dialer.answered.Load() < int64(waited) {
		c.silences.Store(0)
		return false
	}
	if c.silences.Add(1) != maxSilences {
		return false
	}
	_ = c.Close()
	return true
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}

// pingLost notes that the connection did not answer, and tells whether that is
// news.
func (c *connection) pingLost() bool {
	if c.lost.Swap(true) {
		return false
	}
	c.dialer.lost.Add(1)
	return true
}

// addresses returns both ends as text; empty where there is none.
func addresses(c net.Conn) (local, remote string) {
	if a := c.LocalAddr(); a != nil {
		local = a.String()
	}
	if a := c.RemoteAddr(); a != nil {
		remote = a.String()
	}
	return local, remote
}

func endpoints(c net.Conn) string {
	local, remote := addresses(c)
	return local + " " + remote
}
