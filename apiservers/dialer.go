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

	mu    sync.Mutex
	ended bool
	ends  []func()
}

func newDialer(dial dialFunc) *dialer {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext // until the end
	}
	return &dialer{dial: dial}
}

// DialContext is the rest.Config's Dial.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.atEnd(cancel)
	conn, err := d.dial(ctx, network, address)
	if err != nil || conn == nil { // net/http has an error for the latter
		return nil, err
	}
	d.atEnd(func() { _ = conn.Close() }) // net/http may have done so already
	return conn, nil
}

// atEnd has f called at the end, or now if that has come.
func (d *dialer) atEnd(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		f()
		return
	}
	d.ends = append(d.ends, f)
}

// end closes every connection, those that are yet to come included.
func (d *dialer) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for _, f := range d.ends {
		f()
	}
}
