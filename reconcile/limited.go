// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// limited is the context of one reconcile: its parent, with a deadline that somebody
// else's clock decides by calling expire. Until somebody waits for its end it is no more
// than two pointers, since most reconciles that do nothing never do: a context of the
// standard library, with its timer, would be a tenth of what a controller spends on them.
type limited struct {
	parent context.Context
	began  time.Time
	limit  time.Duration
	clock  clock.PassiveClock // of began; nil: the real one

	mu       sync.Mutex               // held by who sets standard
	standard atomic.Pointer[standard] // nil: nobody has waited for the end, and it has not expired
	ended    atomic.Bool              // the reconcile has returned
}

// standard is a context of the standard library that a limited has become, so that
// those derived from it need no goroutine each.
type standard struct {
	context.Context
	origin *origin // nil: it has ended
	cancel context.CancelFunc
}

// Deadline implements context.Context.
func (l *limited) Deadline() (time.Time, bool) {
	own := l.began.Add(l.limit)
	if l.clock != nil { // those who ask will compare it with the real time
		own = time.Now().Add(own.Sub(l.clock.Now())) //nolint:forbidigo // see above
	}
	if d, ok := l.parent.Deadline(); ok && d.Before(own) {
		return d, true
	}
	return own, true
}

// Done implements context.Context.
func (l *limited) Done() <-chan struct{} {
	if s := l.standard.Load(); s != nil {
		return s.Done()
	}
	return l.become().Done()
}

// Err implements context.Context.
func (l *limited) Err() error {
	s := l.standard.Load()
	if s == nil && l.ended.Load() {
		s = l.become()
	}
	if s == nil {
		return l.parent.Err()
	}
	err := s.Err()
	if err == nil && l.parent.Err() != nil {
		<-s.Done() // which is about to follow
		err = s.Err()
	}
	return err
}

// Value implements context.Context.
func (l *limited) Value(key any) any {
	if s := l.standard.Load(); s != nil {
		return s.Value(key)
	}
	return l.parent.Value(key)
}

// become makes the standard context.
func (l *limited) become() *standard {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.standard.Load(); s != nil {
		return s
	}
	s := &standard{}
	if l.parent.Err() != nil {
		s.Context, s.cancel = context.WithCancel(l.parent)
		s.cancel()
	} else {
		s.origin = &origin{parent: l.parent, never: make(chan struct{})}
		s.Context, s.cancel = context.WithCancel(s.origin)
	}
	l.standard.Store(s)
	if l.ended.Load() {
		s.cancel() // finish has not seen it
	}
	return s
}

// expire ends it with context.DeadlineExceeded and a cause.
func (l *limited) expire(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.standard.Load()
	switch {
	case s == nil && !l.ended.Load():
		ctx, cancel := past(l.parent, cause)
		l.standard.Store(&standard{Context: ctx, cancel: cancel})
	case s != nil && s.origin != nil:
		s.origin.expire(cause)
	}
}

// finish ends it with context.Canceled, if it has not ended: the reconcile has returned.
func (l *limited) finish() {
	l.ended.Store(true)
	if s := l.standard.Load(); s != nil {
		s.cancel()
	}
}

// past returns a context whose deadline has passed. One that was canceled with a cause
// would not do: its error would be context.Canceled, which reconcilers take for a
// shutdown, and drop the request.
func past(parent context.Context, cause error) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(parent, time.Time{}, cause)
}

// origin is the parent of a standard context. The standard library asks it, through
// AfterFunc, to be told of its end (read: context.propagateCancel in Go 1.26), and then
// takes its error and cause.
type origin struct {
	parent context.Context
	never  chan struct{} // not the parent's: else the standard context would be told by that one
	over   atomic.Pointer[context.Context]
	end    func()
	stop   func() bool // of the parent's telling
}

func (s *origin) now() context.Context {
	if over := s.over.Load(); over != nil {
		return *over
	}
	return s.parent
}

func (s *origin) Deadline() (time.Time, bool) { return s.parent.Deadline() }
func (s *origin) Done() <-chan struct{}       { return s.never }
func (s *origin) Err() error                  { return s.now().Err() }
func (s *origin) Value(key any) any           { return s.now().Value(key) }

// AfterFunc is called once, by context.WithCancel.
func (s *origin) AfterFunc(f func()) (stop func() bool) {
	s.end, s.stop = f, context.AfterFunc(s.parent, f)
	return s.stop
}

func (s *origin) expire(cause error) {
	over, cancel := past(s.parent, cause)
	defer cancel() // it has ended
	s.over.Store(&over)
	s.end()
	s.stop() // else the parent, which may live for long, would remember it
}
