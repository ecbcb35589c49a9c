// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net"
	"sync/atomic"
	"time"
)

// connection is one that the dialer made.
type connection struct {
	net.Conn

	dialer   *dialer
	opened   time.Time
	recycled atomic.Bool
	lost     atomic.Bool // it did not answer a PING
	broke    int         // watches that ended for that; streams.mu guards it
	givenUp  atomic.Bool // it is deaf
	silences atomic.Int32
	silent   atomic.Int64 // when the last of them was noted, wall clock, in ns

	requests atomic.Uint64          // lists and watches begun over it
	proto    atomic.Pointer[string] // of the last response to one of them
	lastByte atomic.Int64           // of those that have ended, wall clock, in ns; 0: none
	closing  atomic.Pointer[closing]
	reported atomic.Bool // the observer knows of its end
}

// closing is what there was when a connection was closed, for the observer.
type closing struct {
	at   time.Time
	last Connection
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

// keep remembers when a list or watch that ends has last brought something.
func (c *connection) keep(at int64) {
	if c == nil {
		return
	}
	for {
		last := c.lastByte.Load()
		if at <= last || c.lastByte.CompareAndSwap(last, at) {
			return
		}
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
	c.givenUp.Store(true)
	_ = c.Close()
	return true
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	err := c.Conn.Close()
	c.noteClosed()
	return err
}

// noteClosed tells the observer that the connection is closed, if it is known why.
// net/http does not say when it closes one for want of an answer to its PING, but the
// lists and watches over it are told, so that it is their turn then.
func (c *connection) noteClosed() {
	if c.dialer.observer == nil {
		return
	}
	c.closing.CompareAndSwap(nil, &closing{at: c.dialer.clock.Now(), last: c.describe()})
	switch {
	case c.recycled.Load():
		c.report(EndedRecycled)
	case c.givenUp.Load():
		c.report(EndedHeaders)
	case c.lost.Load():
		c.report(EndedPing)
	case c.idle():
		c.report(EndedConnection)
	}
}

// noteStream takes the end of a list or watch over the connection, which may say why
// that was closed. It is called when the stream is no longer among those under way: one
// that noteClosed has still found there comes here afterwards.
func (c *connection) noteStream(r EndReason) {
	switch {
	case c == nil || c.closing.Load() == nil || c.reported.Load():
	case r == EndedPing:
		c.report(EndedPing)
	case r == EndedConnection || c.idle():
		c.report(EndedConnection)
	}
}

// noteLate is for a connection whose lists and watches have no reader that would
// notice.
func (c *connection) noteLate(now time.Time) {
	if c == nil {
		return
	}
	if end := c.closing.Load(); end != nil && now.Sub(end.at) >= tick {
		c.report(EndedConnection)
	}
}

// report tells the observer of the connection's end, once.
func (c *connection) report(r EndReason) {
	if end := c.closing.Load(); !c.reported.Swap(true) {
		c.dialer.tell(Event{Type: ConnectionClosed, Time: end.at, Reason: r, Connection: end.last})
	}
}

// idle tells whether no list or watch is under way over it.
func (c *connection) idle() bool {
	_, found, _ := c.dialer.streams.over(c)
	return !found
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
