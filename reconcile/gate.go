// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/freshness"
)

// monitor is what a gate asks of a *freshness.Monitor.
type monitor interface {
	StatusOf(of freshness.Informer) (freshness.Status, bool)
	EnsureFresh(ctx context.Context, of freshness.Informer, maxAge time.Duration) error
}

// Gate is a reconciler that requeues instead of acting while a kind that it reads
// is known to be stale. Make one with WithGate. It is a prometheus.Collector, and
// safe for concurrent use if the reconciler in it is.
type Gate[request comparable] struct {
	inner ctrlreconcile.TypedReconciler[request]
	gate  *gate
}

// WithGate returns inner behind a gate that closes while one of kinds, as m sees
// it, is stale.
//
// m is a *freshness.Monitor, or what takes its place in a test. kinds are what
// inner's decisions rest on (see Kinds); an empty Version stands for all, an empty
// Namespace for every informer of the kind. The error names the option or argument
// that is wrong, its value and the rule; that a kind has no informer yet is none.
func WithGate[request comparable](inner ctrlreconcile.TypedReconciler[request], m monitor, kinds []freshness.Informer, opts GateOptions) (*Gate[request], error) {
	if inner == nil || m == nil {
		return nil, errors.New("reconcile: WithGate wants a reconciler and a monitor, got nil")
	}
	g, err := newGate(m, kinds, opts)
	if err != nil {
		return nil, err
	}
	return &Gate[request]{inner: inner, gate: g}, nil
}

// Reconcile implements reconcile.TypedReconciler. With the gate open it is inner's,
// whose result and error are returned as they are. With the gate closed it returns
// a RequeueAfter and no error.
func (g *Gate[request]) Reconcile(ctx context.Context, req request) (ctrlreconcile.Result, error) {
	if wait, held := g.gate.admit(ctx); held {
		return ctrlreconcile.Result{RequeueAfter: wait}, nil
	}
	return g.inner.Reconcile(ctx, req)
}

// Describe implements prometheus.Collector.
func (g *Gate[request]) Describe(ch chan<- *prometheus.Desc) { g.gate.describe(ch) }

// Collect implements prometheus.Collector. It looks at the monitor, so that the
// metrics are right between two reconciles too.
func (g *Gate[request]) Collect(ch chan<- prometheus.Metric) { g.gate.collect(ch) }

// admit tells whether a request is held, and for how long.
func (g *gate) admit(ctx context.Context) (wait time.Duration, held bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.starting && g.awaitStart(ctx) {
		return g.requeueAfter(), true // the controller stops
	}
	g.look(g.opts.Clock.Now())
	switch {
	case g.hold.since.IsZero():
		return 0, false
	case g.hold.over:
		g.overrides++
		return 0, false
	}
	g.requeues++
	return g.requeueAfter(), true
}

// requeueAfter is RequeueAfter, give or take a fifth.
func (g *gate) requeueAfter() time.Duration {
	return time.Duration((0.8 + 0.4*rand.Float64()) * float64(g.opts.RequeueAfter))
}
