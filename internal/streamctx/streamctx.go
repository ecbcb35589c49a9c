// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package streamctx ends one watch from outside in the way that makes client-go
// resume it.
//
// Stopping a watch.Interface from another goroutine is not that way: over
// HTTP/2 the decoder then fails with "response body closed", and
// watch.StreamWatcher picks at random between its stop channel and an error
// event, which costs the reflector a full relist (apimachinery 0.37,
// pkg/watch/streamwatcher.go, receive). Cancelling the context is not either:
// context.Canceled is such an error too. A deadline is: client-go takes
// context.DeadlineExceeded for the ordinary end of a watch, closes the channel
// without an event, and the reflector watches again from the last
// resourceVersion it saw.
package streamctx

import (
	"context"
	"sync"
)

// Context is a context that ends with its parent or, as if a deadline had
// passed, when Expire is called. It is safe for concurrent use.
//
// A child made with context.WithCancel directly from it costs nothing, thanks to
// AfterFunc. With another context in between, such as one with a value, the child
// costs one parked goroutine for as long as it lives: the context package knows
// no other way to hear of the end of a context that is not its own.
type Context struct {
	context.Context

	done   chan struct{}
	detach func() bool

	mu      sync.Mutex
	err     error
	expired bool
	after   map[*func()]struct{}
}

// New returns a context whose values are parent's. Call Release when the
// stream it carries has ended.
func New(parent context.Context) *Context {
	c := &Context{Context: parent, done: make(chan struct{})}
	c.detach = context.AfterFunc(parent, func() { c.end(parent.Err(), false) })
	return c
}

// Done implements context.Context.
func (c *Context) Done() <-chan struct{} { return c.done }

// Err implements context.Context.
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// AfterFunc calls f in a goroutine of its own once the context has ended. The
// function it returns takes that back, and tells whether it was in time. Package
// context looks for this method, and saves a goroutine per child with it.
func (c *Context) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	if c.after == nil {
		c.after = map[*func()]struct{}{}
	}
	c.after[&f] = struct{}{}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waiting := c.after[&f]
		delete(c.after, &f)
		return waiting
	}
}

// Expire ends the context with context.DeadlineExceeded.
func (c *Context) Expire() { c.end(context.DeadlineExceeded, true) }

// Expired tells whether Expire, not the parent, ended the context.
func (c *Context) Expired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.expired
}

// Release ends the context and takes it off its parent, so that a long-lived
// parent does not keep every stream that ever ran under it.
func (c *Context) Release() {
	c.detach()
	c.end(context.Canceled, false)
}

func (c *Context) end(err error, expired bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err, c.expired = err, expired
	close(c.done)
	for f := range c.after {
		go (*f)()
	}
	c.after = nil
}
