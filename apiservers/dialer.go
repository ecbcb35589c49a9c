// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"context"
	"net"
	"sync"
)

// dialFunc is the type of rest.Config.Dial.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// dialer makes the connections of one inquiry, and ends them with it. net/http
// alone would keep an idle one for 90 s, and would let one that is being made be
// finished after its request has been given up.
type dialer struct {
	dial dialFunc
	done context.Context // ends what is being dialed

	mu     sync.Mutex
	closed bool
	conns  []net.Conn
}

func newDialer(done context.Context, dial dialFunc) *dialer {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext // until done
	}
	return &dialer{dial: dial, done: done}
}

// DialContext is the rest.Config's Dial.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.done, cancel)()
	conn, err := d.dial(ctx, network, address)
	if err != nil || conn == nil { // net/http has an error for the latter
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		_ = conn.Close() // nobody wants it any more
		return nil, net.ErrClosed
	}
	d.conns = append(d.conns, conn)
	return conn, nil
}

// close ends every connection, those that are yet to come included.
func (d *dialer) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, conn := range d.conns {
		_ = conn.Close() // net/http may have done so already
	}
}
