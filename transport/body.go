// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"io"
	"time"
)

const (
	// shortWatch is what a reflector takes for too short: a watch that ends within a
	// second without an event makes it list everything again (client-go 0.37,
	// tools/cache/reflector.go, VeryShortWatchError).
	shortWatch = time.Second
	// settling is that second, and two for a reflector to put initial events into
	// its store: it counts from when that is done, and no event from before.
	settling = 3 * time.Second
)

// body is the response of a list or watch, as its reader sees it. Per read it
// costs a few atomic stores and a look at the clock.
type body struct {
	io.ReadCloser
	stream *stream

	over bool
	held bool  // the end is kept back until it is not too short
	err  error // how it ended, for all later reads
}

// Read implements io.Reader. A watch ends with io.EOF, whatever ended it, unless
// that was its reader itself: a reflector goes on from where it was after that,
// and lists everything again after any other error.
func (b *body) Read(p []byte) (int, error) {
	if b.over {
		b.hold()
		return 0, b.err
	}
	s := b.stream
	s.reading.Store(true)
	n, err := b.ReadCloser.Read(p)
	s.reading.Store(false)
	if n > 0 {
		s.bytes.Add(int64(n))
		s.lastByte.Store(s.owner.clock.Now().UnixNano())
	}
	if err == nil {
		return n, nil
	}
	b.over, b.err = true, b.end(err)
	if n > 0 {
		return n, nil // now; the end comes with the next read
	}
	b.hold()
	return 0, b.err
}

// end closes the books and returns what the reader is told.
func (b *body) end(err error) error {
	s := b.stream
	reason := s.finish(s.why(err))
	s.noteBreak(reason, err)
	switch {
	case reason == EndedClient, reason == EndedStatus:
		return err
	case s.kind == watch:
		b.held = true
		return io.EOF
	case reason == EndedStalled:
		return s.stalled()
	}
	return err
}

// hold keeps the end of a watch back that the reflector would take for too short.
func (b *body) hold() {
	s := b.stream
	if !b.held {
		return
	}
	b.held = false
	left := s.tooShort(s.owner.clock.Now())
	if left <= 0 {
		return
	}
	timer := s.owner.clock.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-s.caller.Done():
	}
}

// tooShort is for how much longer an end would be taken for too short. What has
// come does not tell: it may be half an event, or be initial ones.
func (s *stream) tooShort(now time.Time) time.Duration {
	left := shortWatch - now.Sub(s.began)
	if at := s.lastByte.Load(); s.initial && at != 0 {
		left = max(left, settling-now.Sub(time.Unix(0, at)))
	}
	return min(left, settling) // the wall clock may have been set
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.stream.failed() {
		b.stream.finish(EndedStatus)
	}
	b.stream.finish(EndedClient)
	return b.ReadCloser.Close()
}
