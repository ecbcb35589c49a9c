// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout bounds how long sent bytes, keep-alive probes included, may stay
// unacknowledged (RFC 5482; tcp(7)).
func setUserTimeout(fd uintptr, d time.Duration) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d/time.Millisecond))
}
