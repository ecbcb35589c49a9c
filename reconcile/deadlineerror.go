// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrDeadline is matched by every *DeadlineError.
var ErrDeadline = errors.New("reconcile: deadline overrun")

// DeadlineError says that a reconcile was not done within its deadline. It is the cause
// of its context's end (see context.Cause), and what Deadline.Reconcile returns once the
// reconcile has. It matches ErrDeadline and context.DeadlineExceeded.
type DeadlineError struct {
	// Controller is DeadlineOptions.Name.
	Controller string
	// Request is the request as text: namespace/name for a reconcile.Request.
	Request string
	// Limit is DeadlineOptions.Timeout.
	Limit time.Duration
	// Took is how long the reconcile took. 0: it has not returned.
	Took time.Duration
	// Err is what it has returned; nil: no error, or nothing yet.
	Err error
}

// Error implements error.
func (e *DeadlineError) Error() string {
	text := fmt.Sprintf("reconcile: %s is not done within %v", e.Request, e.Limit)
	if e.Controller != "" {
		text = fmt.Sprintf("reconcile: %s: %s is not done within %v", e.Controller, e.Request, e.Limit)
	}
	cause := text
	if e.Took != 0 {
		text += fmt.Sprintf(" (returned after %v)", e.Took.Round(time.Millisecond))
	}
	if e.Err != nil { // which may quote the cause of its context, and that is this
		text += ": " + strings.ReplaceAll(e.Err.Error(), cause, context.DeadlineExceeded.Error())
	}
	return text
}

// Timeout and Temporary are those of context.DeadlineExceeded, which net/http would have
// reported in its place: what asks for a net.Error goes on as before.
func (e *DeadlineError) Timeout() bool { return true }

// Temporary is as Timeout.
func (e *DeadlineError) Temporary() bool { return true }

// Is makes it match ErrDeadline and context.DeadlineExceeded.
func (e *DeadlineError) Is(target error) bool {
	return target == ErrDeadline || target == context.DeadlineExceeded
}

// Unwrap returns what the reconcile has returned, so that a reconcile.TerminalError is
// one still.
func (e *DeadlineError) Unwrap() error { return e.Err }
