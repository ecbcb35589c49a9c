// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrListStalled is what the error of a list that made no progress for
// Options.ListTimeout wraps. It is a *ListStalledError.
var ErrListStalled = errors.New("list made no progress")

// errNothing is for a transport that returns neither a response nor an error.
var errNothing = errors.New("transport: rest.Config.Transport returned neither a response nor an error")

// ListStalledError says which list stalled, and where.
type ListStalledError struct {
	GVR       schema.GroupVersionResource
	Namespace string
	// Limit is the ListTimeout that has passed without a byte.
	Limit time.Duration
	// Bytes came before that; 0: none, and perhaps no response at all.
	Bytes int64
}

// Error implements error.
func (e *ListStalledError) Error() string {
	return fmt.Sprintf("transport: list of %s made no progress for %v, after %d bytes", e.GVR.String(), e.Limit, e.Bytes)
}

// Is makes it an ErrListStalled.
func (e *ListStalledError) Is(target error) bool { return target == ErrListStalled }

// Timeout implements net.Error.
func (e *ListStalledError) Timeout() bool { return true }

// Temporary implements net.Error.
func (e *ListStalledError) Temporary() bool { return true }

var (
	_ net.Error = (*ListStalledError)(nil)
	_ net.Error = (*unansweredError)(nil)
)

func (s *stream) stalled() error {
	return &ListStalledError{GVR: s.path.GVR, Namespace: s.path.Namespace, Limit: s.owner.streams.limits.list, Bytes: s.bytes.Load()}
}

// unansweredError is a watch that was ended before its response began. client-go
// takes a time-out for the ordinary end of a watch, and sends it again.
type unansweredError struct {
	gvr schema.GroupVersionResource
	age time.Duration
}

func (e *unansweredError) Error() string {
	return fmt.Sprintf("transport: no response to the watch of %s within %v", e.gvr.String(), e.age.Round(time.Second))
}

func (e *unansweredError) Timeout() bool   { return true }
func (e *unansweredError) Temporary() bool { return true }
func (e *unansweredError) Unwrap() error   { return context.DeadlineExceeded }

// lostError is a connection that was lost before the response to a watch began.
// It is ECONNREFUSED too: that is the one error by which a reflector tells that
// it may go on from where it was, after a pause (client-go 0.37,
// tools/cache/reflector.go, isWatchErrorRetriable). After any other it lists
// everything again.
type lostError struct{ cause error }

func (e *lostError) Error() string   { return e.cause.Error() }
func (e *lostError) Unwrap() []error { return []error{syscall.ECONNREFUSED, e.cause} }

// refused is what the caller of a list or watch is told when its request failed.
func (s *stream) refused(reason EndReason, err error) error {
	switch {
	case reason == EndedStalled:
		return s.stalled()
	case reason == EndedClient:
		return err
	case s.kind != watch:
		return err
	case s.ctx.Expired():
		return &unansweredError{gvr: s.path.GVR, age: s.owner.clock.Since(s.began)}
	case s.resumes && s.broken(err):
		return &lostError{cause: err}
	}
	return err
}

// broken tells whether the network, and not TLS or the configuration, kept a
// request from being answered.
func (s *stream) broken(err error) bool {
	if s.conn.Load() != nil || s.undialed.Load() {
		return true // it had a connection, or there was none to be had
	}
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
