// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"errors"
	"net"
	"time"
)

// acceptPause is how long a listener rests after an error that may pass, such as one of too many open files.
const acceptPause = 10 * time.Millisecond

// acceptAll hands each connection to adopt until the listener is closed or ctx is done.
func acceptAll(ctx context.Context, ln net.Listener, adopt func(*net.TCPConn)) {
	for {
		conn, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			if !sleepUntil(ctx, time.Now().Add(acceptPause)) {
				return
			}
			continue
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			adopt(tcp)
		}
	}
}
