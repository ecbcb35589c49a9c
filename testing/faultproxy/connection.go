// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import "time"

// Connection describes one connection through a TCP proxy.
type Connection struct {
	// ID numbers the connections of one proxy from 1.
	ID uint64
	// Client and Server are the remote ends; Server is empty before the target was dialled.
	Client, Server string
	// ToServer and ToClient count the bytes that were passed on.
	ToServer, ToClient int64
	// Opened is when it was accepted, LastByte when the proxy last read from either side (Opened before the first byte).
	Opened, LastByte time.Time
	// Dead says that no byte will ever pass again: dropped as idle, or accepted silently.
	Dead bool
}

func (f *flow) describe() Connection {
	c := Connection{
		ID: f.id, Client: f.client.RemoteAddr().String(), Opened: f.opened, LastByte: f.last, Dead: f.dead,
		ToServer: f.passed[ToServer], ToClient: f.passed[ToClient],
	}
	if f.server != nil {
		c.Server = f.server.RemoteAddr().String()
	}
	return c
}
