// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package memconn

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// Listener accepts the connections that its DialContext makes. Its methods may be called concurrently.
type Listener struct {
	addr    Addr
	backlog chan *conn
	closed  chan struct{}

	mu      sync.Mutex
	refused int // how many Refuse calls are in force
	dialed  int
	conns   map[*conn]struct{} // the clients' ends
}

var _ net.Listener = (*Listener)(nil)

// Listen returns a listener with the given address, which is only a name. Close releases it.
func Listen(addr Addr) *Listener {
	return &Listener{
		addr:    addr,
		backlog: make(chan *conn),
		closed:  make(chan struct{}),
		conns:   map[*conn]struct{}{},
	}
}

// DialContext connects to the listener, whatever network and address are: it has the signature that rest.Config.Dial
// and http.Transport ask for. The error wraps syscall.ECONNREFUSED while connections are refused or when the listener
// is closed, and the context's error when ctx ends before the connection is accepted.
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server, err := l.connect()
	if err != nil {
		return nil, l.dialError(err)
	}
	select {
	case l.backlog <- server:
		return client, nil
	case <-l.closed:
		err = syscall.ECONNREFUSED
	case <-ctx.Done():
		err = ctx.Err()
	}
	client.Close()
	server.Close()
	return nil, l.dialError(err)
}

func (l *Listener) connect() (client, server *conn, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused > 0 {
		return nil, nil, syscall.ECONNREFUSED
	}
	l.dialed++
	client, server = newPair(Addr(fmt.Sprintf("client-%d", l.dialed)), l.addr, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, client)
	})
	l.conns[client] = struct{}{}
	return client, server, nil
}

func (l *Listener) dialError(err error) error {
	return &net.OpError{Op: "dial", Net: l.addr.Network(), Addr: l.addr, Err: err}
}

// Accept waits for the next connection. After Close it returns net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close stops accepting. Connections that are open stay open.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

// Addr returns the listener's address.
func (l *Listener) Addr() net.Addr { return l.addr }

// Dialed returns how many connections have been made, closed ones included.
func (l *Listener) Dialed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialed
}

// Reset breaks every open connection: both ends fail with syscall.ECONNRESET.
func (l *Listener) Reset() {
	for _, c := range l.open() {
		c.reset(syscall.ECONNRESET)
	}
}

// BlackHole lets no further byte through on any connection that is open now, in either direction, and says nothing
// about it: no end, no reset. Connections made later work. It returns how many connections it holds, and a function
// that lets the bytes through again.
func (l *Listener) BlackHole() (held int, lift func()) {
	conns := l.open()
	for _, c := range conns {
		c.hold(true)
	}
	return len(conns), func() {
		for _, c := range conns {
			c.hold(false)
		}
	}
}

// Refuse makes new connections fail with syscall.ECONNREFUSED until the returned function is called. Calls add up.
func (l *Listener) Refuse() (lift func()) {
	l.refuse(1)
	return func() { l.refuse(-1) }
}

func (l *Listener) refuse(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused += n
}

func (l *Listener) open() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	conns := make([]*conn, 0, len(l.conns))
	for c := range l.conns {
		conns = append(conns, c)
	}
	return conns
}
