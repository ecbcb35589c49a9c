// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package memconn

import (
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// bufferSize bounds what one direction holds between a write and its read, as socket buffers do. A writer ahead of its
// reader by that much blocks.
const bufferSize = 256 << 10

// half is one direction of a connection.
type half struct {
	mu      sync.Mutex
	changed *sync.Cond

	data         []byte
	writerClosed bool  // the writer's end is closed: the reader drains data, then reads io.EOF
	readerClosed bool  // the reader's end is closed: its reads fail, and so do writes
	broken       error // reset: both ends fail, and data is lost
	held         bool  // black hole: nothing reaches the reader, though the writer may go on until the buffer is full

	readDeadline  deadline
	writeDeadline deadline
}

func newHalf() *half {
	h := &half{}
	h.changed = sync.NewCond(&h.mu)
	return h
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.readerClosed:
			return 0, net.ErrClosed
		case h.broken != nil:
			return 0, h.broken
		case h.readDeadline.passed:
			return 0, errDeadline
		case len(p) == 0:
			return 0, nil
		case h.held:
			// Neither bytes nor their end arrive.
		case len(h.data) > 0:
			n := copy(p, h.data)
			h.data = h.data[n:]
			h.changed.Broadcast()
			return n, nil
		case h.writerClosed:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

func (h *half) write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	written := 0
	for {
		switch {
		case h.writerClosed:
			return written, net.ErrClosed
		case h.broken != nil:
			return written, h.broken
		case h.readerClosed && !h.held:
			return written, syscall.EPIPE
		case h.writeDeadline.passed:
			return written, errDeadline
		case written == len(p):
			return written, nil
		}
		if room := bufferSize - len(h.data); room > 0 {
			n := min(room, len(p)-written)
			h.data = append(h.data, p[written:written+n]...)
			written += n
			h.changed.Broadcast()
			continue
		}
		h.changed.Wait()
	}
}

// set changes the state under the lock and wakes whoever waits.
func (h *half) set(change func(*half)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
	h.changed.Broadcast()
}

func (h *half) setReadDeadline(t time.Time) {
	h.set(func(h *half) { h.readDeadline.arm(h, t) })
}

func (h *half) setWriteDeadline(t time.Time) {
	h.set(func(h *half) { h.writeDeadline.arm(h, t) })
}
