// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net"
	"time"
)

// tuneTCP has the kernel close a connection whose other end is gone, which is all
// there is on HTTP/1.1. A connection that is none of the kernel's, or does not
// take it, is left as it is: the deadlines on streams find the same, later.
func tuneTCP(c net.Conn, keepAlive net.KeepAliveConfig, userTimeout time.Duration) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	_ = tcp.SetKeepAliveConfig(keepAlive)
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { setUserTimeout(fd, userTimeout) })
	}
}
