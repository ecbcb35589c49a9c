// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"slices"
	"time"
)

// Connection is one that was opened for a client of the config, for whatever
// request.
type Connection struct {
	// Local and Remote are its ends, as host:port; empty where they are not known.
	// Remote is a proxy's where there is one.
	Local, Remote string
	// Opened is when it was.
	Opened time.Time
	// Protocol is that of the last response to a list or watch over it, such as
	// "HTTP/2.0"; empty: there was none.
	Protocol string
	// LastByte is when a list or watch over it last brought something, by the wall
	// clock; zero: never.
	LastByte time.Time
	// Watches is how many are open over it.
	Watches int
	// Requests is how many lists and watches were begun over it.
	Requests uint64
}

// Connections returns the connections that are open, oldest first. There are none
// where the config has a Transport of its own.
func (t *Transport) Connections() []Connection {
	var out []Connection
	for _, c := range t.dialer.all() {
		out = append(out, c.describe())
	}
	slices.SortFunc(out, func(a, b Connection) int { return a.Opened.Compare(b.Opened) })
	return out
}

// describe wants no lock held.
func (c *connection) describe() Connection {
	out := Connection{Opened: c.opened, Requests: c.requests.Load()}
	out.Local, out.Remote = addresses(c)
	if proto := c.proto.Load(); proto != nil {
		out.Protocol = *proto
	}
	watches, _, lastByte := c.dialer.streams.over(c)
	out.Watches = watches
	if at := max(lastByte, c.lastByte.Load()); at != 0 {
		out.LastByte = time.Unix(0, at)
	}
	return out
}
