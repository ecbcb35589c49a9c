// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// heldFor is after how long a request is tried again that is being reconciled already.
const heldFor = 5 * time.Second

// Deadline is a reconciler whose reconciles have a deadline, and that tells of those
// which do not keep to it. Make one with WithDeadline, or NewDeadlines for all
// controllers of a manager. It is a prometheus.Collector, its Check is a
// healthz.Checker, and it is safe for concurrent use if the reconciler in it is.
//
// It runs each reconcile in the goroutine that asks for it, and starts none of its own.
type Deadline[request comparable] struct {
	inner ctrlreconcile.TypedReconciler[request]
	watch *watch[request]
}

// WithDeadline returns inner with a deadline on each reconcile.
//
// The error names the option that is wrong, its value and the rule.
func WithDeadline[request comparable](inner ctrlreconcile.TypedReconciler[request], opts DeadlineOptions) (*Deadline[request], error) {
	if inner == nil {
		return nil, errors.New("reconcile: WithDeadline wants a reconciler, got nil")
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Deadline[request]{inner: inner, watch: newWatch[request](opts, newAsker(opts))}, nil
}

// Reconcile implements reconcile.TypedReconciler. It is inner's, whose result and error
// are returned as they are, and whose panic passes. The context ends when it returns, as
// that of any call does: what goes on after it needs a context of its own.
//
// Where the deadline passes first, it returns a *DeadlineError once inner has returned,
// whatever that was, so that the queue backs off and the request is tried again: a
// reconcile that was cut off half-way must not count as done because it returns no
// error. Of the result only the priority is kept then. A reconcile.TerminalError stays
// one, and is not tried again.
//
// A request that is being reconciled already, which a controller's own queue never lets
// happen, is not reconciled a second time: it is requeued.
func (d *Deadline[request]) Reconcile(ctx context.Context, req request) (res ctrlreconcile.Result, err error) {
	r, begun := d.watch.begin(ctx, req)
	if !begun {
		return ctrlreconcile.Result{RequeueAfter: time.Duration((0.8 + 0.4*rand.Float64()) * float64(heldFor))}, nil //nolint:gosec // no secret
	}
	defer func() {
		if over := d.watch.end(req, r); over != nil {
			over.Err = err
			res, err = ctrlreconcile.Result{Priority: res.Priority}, over
		}
	}()
	r.call(func() { res, err = d.inner.Reconcile(r, req) }) //nolint:contextcheck // r is one
	return res, err
}
