// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package memconn is a network in memory: a listener, its dialer, and buffered connections between them that can be
// reset, refused and black-holed.
//
// net.Pipe does not fit here. It has no buffer, so a TLS close alert or an HTTP/2 frame written while the peer is
// writing too blocks both, and its connections know no reset. A socket on the loopback interface does not fit either:
// a goroutine that waits in a system call is not durably blocked, so time in a testing/synctest bubble would stand
// still. Everything here waits on a sync.Cond, on a channel or on a timer of package time, and all of them belong to
// the bubble in which the listener was made.
package memconn
