// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// memoryNetwork is a network of listeners in memory, so that what happens on its connections stays inside a bubble.
type memoryNetwork struct {
	mu        sync.Mutex
	listeners map[string]*memoryListener
	dialed    []string
}

func newMemoryNetwork() *memoryNetwork {
	return &memoryNetwork{listeners: map[string]*memoryListener{}}
}

// listen replaces a listener of the same address that is closed.
func (n *memoryNetwork) listen(address string) *memoryListener {
	l := &memoryListener{address: address, backlog: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[address] = l
	return l
}

// dial has the signature of rest.Config.Dial.
func (n *memoryNetwork) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[address]
	n.dialed = append(n.dialed, network+" "+address)
	number := len(n.dialed)
	n.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
	}
	pipe, peer := net.Pipe()
	client, server := memoryAddr(fmt.Sprintf("client-%d", number)), memoryAddr(address)
	ours, theirs := newMemoryConn(pipe, client, server), newMemoryConn(peer, server, client)
	err := fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
	select {
	case l.backlog <- theirs:
		return ours, nil
	case <-l.closed:
	case <-ctx.Done():
		err = ctx.Err()
	}
	ours.Close()
	theirs.Close()
	return nil, err
}

// dials returns every network and address that has been dialed.
func (n *memoryNetwork) dials() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.dialed)
}

type memoryListener struct {
	address string
	backlog chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.backlog:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return memoryAddr(l.address) }

type memoryAddr string

func (memoryAddr) Network() string  { return "mem" }
func (a memoryAddr) String() string { return string(a) }

// memoryConn is one end of a net.Pipe whose writes do not wait for the peer: TLS and HTTP/2 write without reading at
// the same time, which would block both ends of a pipe for ever.
type memoryConn struct {
	net.Conn

	local, remote memoryAddr

	out    chan []byte
	closed chan struct{} // by this end
	broken chan struct{} // the pipe is closed, by whichever end
	once   sync.Once
}

func newMemoryConn(pipe net.Conn, local, remote memoryAddr) *memoryConn {
	c := &memoryConn{
		Conn:   pipe,
		local:  local,
		remote: remote,
		out:    make(chan []byte, 1024),
		closed: make(chan struct{}),
		broken: make(chan struct{}),
	}
	go c.pump()
	return c
}

// pump hands on what was written, that before Close included, and then closes the pipe.
func (c *memoryConn) pump() {
	defer close(c.broken)
	defer c.Conn.Close()
	for {
		select {
		case b := <-c.out:
			if _, err := c.Conn.Write(b); err != nil {
				return
			}
			continue
		default:
		}
		select {
		case b := <-c.out:
			if _, err := c.Conn.Write(b); err != nil {
				return
			}
		case <-c.closed:
			return
		}
	}
}

func (c *memoryConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case <-c.closed:
		return 0, &net.OpError{Op: "read", Net: "mem", Err: net.ErrClosed}
	default:
		return n, err
	}
}

func (c *memoryConn) Write(p []byte) (int, error) {
	if err := c.writeError(); err != nil {
		return 0, err
	}
	select {
	case c.out <- slices.Clone(p):
		return len(p), nil
	case <-c.closed:
	case <-c.broken:
	}
	return 0, c.writeError()
}

func (c *memoryConn) writeError() error {
	select {
	case <-c.closed:
		return &net.OpError{Op: "write", Net: "mem", Err: net.ErrClosed}
	case <-c.broken:
		return &net.OpError{Op: "write", Net: "mem", Err: syscall.EPIPE}
	default:
		return nil
	}
}

func (c *memoryConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.Conn.SetReadDeadline(time.Now()) // wakes the reader
	})
	return nil
}

func (c *memoryConn) LocalAddr() net.Addr  { return c.local }
func (c *memoryConn) RemoteAddr() net.Addr { return c.remote }

func (c *memoryConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline does nothing, as writes do not block.
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }

// TestMemoryConn holds the network of the other tests to what they rely on.
func TestMemoryConn(t *testing.T) {
	network := newMemoryNetwork()
	l := network.listen("api.test:443")
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}()
	client, err := network.dial(t.Context(), "tcp", "api.test:443")
	if err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	for range 3 { // nobody reads
		if _, err := client.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	client.Close()
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read of the closed end returned %v", err)
	}
	if got, err := io.ReadAll(server); err != nil || string(got) != "aaa" {
		t.Errorf("read %q, %v, want what was written before the close", got, err)
	}
	server.Close()
	l.Close()
	if _, err := network.dial(t.Context(), "tcp", "api.test:443"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a closed listener answered a dial with %v", err)
	}
}
