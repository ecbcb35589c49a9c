// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"maps"
	"net"
	"slices"
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
	observer  func(Event) // nil: nobody
	streams   *streams    // those over its connections, and others

	opened, failed, recycled, lost atomic.Uint64
	answered                       atomic.Int64 // when a request that is no list or watch last was, wall clock, in ns

	mu    sync.Mutex
	conns map[*connection]struct{}
}

func newDialer(dial dialFunc, o Options, s *streams) *dialer {
	d := &dialer{
		dial: dial,
		// Three probes in about PingTimeout: the kernel counts in seconds.
		keepAlive: net.KeepAliveConfig{Enable: true, Idle: o.ReadIdleTimeout, Interval: max(time.Second, o.PingTimeout/3), Count: 3},
		patience:  o.ReadIdleTimeout + o.PingTimeout,
		clock:     o.Clock,
		observer:  o.Observer,
		streams:   s,
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
		d.tell(Event{Type: DialFailed, Connection: Connection{Remote: address}})
		return nil, err
	}
	tuneTCP(inner, d.keepAlive, d.patience)
	c := &connection{Conn: inner, dialer: d, opened: d.clock.Now()}
	d.opened.Add(1)
	d.tell(Event{Type: ConnectionOpened, Time: c.opened, Connection: c.describe()}) // before anybody can close it
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
	for c := range conns {
		c.recycled.Store(true) // before it can be seen to be gone
	}
	d.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close() // it is gone, whatever this says
	}
	for c := range conns {
		c.noteClosed()
	}
	d.recycled.Add(uint64(len(conns)))
	return len(conns)
}

// tell tells the observer, if there is one. No lock may be held.
func (d *dialer) tell(e Event) {
	if d.observer == nil {
		return
	}
	if e.Time.IsZero() {
		e.Time = d.clock.Now()
	}
	d.observer(e)
}

func (d *dialer) all() []*connection {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.conns))
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
