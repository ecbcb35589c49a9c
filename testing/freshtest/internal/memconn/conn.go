// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package memconn

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Addr is the address of one end of a connection, or of a listener.
type Addr string

// Network returns "mem".
func (Addr) Network() string { return "mem" }

// String returns the address.
func (a Addr) String() string { return string(a) }

// conn is one end of a connection. Its methods may be called concurrently.
type conn struct {
	in, out       *half
	local, remote Addr
	closeOnce     sync.Once
	onClose       func()
}

var _ net.Conn = (*conn)(nil)

// newPair returns the two ends of a connection. onClose is called once both ends are closed.
func newPair(client, server Addr, onClose func()) (*conn, *conn) {
	up, down := newHalf(), newHalf()
	var closed atomic.Int32
	ended := func() {
		if closed.Add(1) == 2 {
			onClose()
		}
	}
	return &conn{in: down, out: up, local: client, remote: server, onClose: ended},
		&conn{in: up, out: down, local: server, remote: client, onClose: ended}
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.wrap("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.wrap("write", err)
}

// Close ends both directions: the peer reads what was written before, then io.EOF.
func (c *conn) Close() error {
	c.closeOnce.Do(func() {
		c.out.set(func(h *half) { h.writerClosed = true })
		c.in.set(func(h *half) { h.readerClosed, h.data = true, nil })
		c.in.setReadDeadline(time.Time{}) // releases the timers
		c.out.setWriteDeadline(time.Time{})
		c.onClose()
	})
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.setWriteDeadline(t)
	return nil
}

// reset makes both ends fail with err, at once and for good.
func (c *conn) reset(err error) {
	for _, h := range []*half{c.in, c.out} {
		h.set(func(h *half) { h.broken, h.data = err, nil })
	}
}

// hold starts or ends the black hole in both directions.
func (c *conn) hold(on bool) {
	for _, h := range []*half{c.in, c.out} {
		h.set(func(h *half) { h.held = on })
	}
}

// wrap dresses an error as package net does, so that callers that look for a *net.OpError or a syscall.Errno find it.
func (c *conn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.remote, Err: err}
}
