// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"io"
	"time"
)

// failWith ends the stream with an ERROR event.
func (b *body) failWith(r *rule) {
	f := r.fault.(ErrorEvent)
	b.ex.struck(r)
	b.held = nil
	b.out = b.framing.errorEvent(f.status())
	b.err = io.EOF
}

// cutShort ends the stream in the middle of what is about to be delivered.
func (b *body) cutShort(r *rule) {
	f := r.fault.(Truncate)
	b.ex.struck(r)
	n := f.AfterBytes
	if n <= 0 || n >= len(b.out) {
		n = len(b.out) / 2
	}
	b.out = b.out[:n]
	b.err = io.EOF
	if f.Reset {
		b.err = errReset
	}
	if f.Connection {
		b.err, b.abort = errReset, true
	}
}

// flushGrace is how long a connection that is to break still lives, so that the bytes before the break get to the client:
// net/http does not say when it has written them.
const flushGrace = 100 * time.Millisecond

// breakConnection breaks the client's connection and returns when it is broken.
func (b *body) breakConnection() {
	if sleepUntil(b.ctx, time.Now().Add(flushGrace)) {
		b.ex.conn.abort()
		<-b.ctx.Done()
	}
}
