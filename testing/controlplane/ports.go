// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are chosen below the range from which the kernel takes ports for outgoing connections (32768 and up on Linux, 49152 on macOS).
// Inside that range, a client that keeps dialling a server which is just being restarted could be given the server's own port as its
// local one, and keep the server from coming back.
const (
	firstPort = 15000
	lastPort  = 32767
)

// freePort returns a port on which nothing listened a moment ago.
func freePort() (int, error) {
	const tries = 100
	for range tries {
		if port := firstPort + rand.IntN(lastPort-firstPort+1); portFree(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1 in %d-%d after %d tries", firstPort, lastPort, tries)
}

// portFree tells whether the port can be listened on right now.
func portFree(port int) bool {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// loopback is the address of a port; nothing in this package listens anywhere else.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
