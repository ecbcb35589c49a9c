// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// How long a manager that has one wedged reconcile waits for it at its end.
const shutdownTakes = 2 * time.Second

// The manager ends while one reconcile is wedged and another one waits: the latter is
// told as ever, no overrun, and the former keeps the manager for its graceful shutdown,
// and no longer.
func TestShutdown(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	opts := operatorOptions{hasty: true, ns: newNamespace(t, p), manager: func(m *manager.Options) { m.GracefulShutdownTimeout = new(shutdownTakes) }}
	const patient = "patient" // its deadline is far away
	opts.deadlines.Controllers = map[string]reconcile.ControllerDeadline{opts.ns + "-" + patient: {Timeout: time.Hour}}
	o := newOperator(t, p, opts)
	release := make(chan struct{})
	wedged := o.add(t, "ignores", workers(1), func(context.Context, *corev1.ConfigMap) error { holdOn(release); return nil })
	waits := o.add(t, patient, workers(1), func(ctx context.Context, _ *corev1.ConfigMap) error { <-ctx.Done(); return ctx.Err() })
	o.start(t)
	let := onceClosed(t, release)
	edit(t.Context(), t, p, o.ns, stuck, "first")
	await(t, patience, "wedged", func() bool {
		return len(o.journal.find(saidWedged, wedged.controller)) == 1 && len(waits.tried(stuck)) == 1
	})

	begin := time.Now()
	o.cancel()
	<-o.ended
	took := time.Since(begin)
	if o.err == nil || !strings.Contains(o.err.Error(), "failed waiting for all runnables to end within grace period of "+shutdownTakes.String()) {
		t.Errorf("the manager ended with %v", o.err)
	}
	if got := waits.returned(); len(got) != 1 || !errors.Is(got[0].err, context.Canceled) || !errors.Is(got[0].cause, context.Canceled) {
		t.Errorf("the one that waited ended with %+v", got)
	}
	o.wantCounts(t, waits.controller, map[string]float64{"deadline_overruns_total": 0, "running": 0, "deadline_seconds": time.Hour.Seconds()})
	for _, l := range o.journal.find(saidFailed, waits.controller) {
		if !errors.Is(l.err, context.Canceled) || errors.Is(l.err, reconcile.ErrDeadline) {
			t.Errorf("controller-runtime was told of %v", l.err)
		}
	}
	let()
	await(t, patience, "it returns", func() bool { return len(o.journal.find(saidReturned, wedged.controller)) == 1 })
	o.wantIdle(t)
	if n := len(o.journal.find(saidWedged, "")); n != 1 {
		t.Errorf("%d reports, want 1", n)
	}
	figures(t, map[string]any{"shutdownTook": took, "error": o.err.Error()})
}

// The leader has a wedged reconcile, and steps down in an orderly way: the other one
// reconciles the same object once the leader's graceful shutdown is over. Before, as a
// standby, it has nothing to tell.
func TestHandOver(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	ns := newNamespace(t, p)
	release := make(chan struct{})
	var leads atomic.Int32
	start := func(role string, act act) (*operator, *worker) {
		o := newOperator(t, p, operatorOptions{hasty: true, ns: ns, manager: func(m *manager.Options) {
			m.LeaderElection, m.LeaderElectionID, m.LeaderElectionNamespace = true, election, ns
			m.LeaderElectionReleaseOnCancel, m.RetryPeriod = true, new(500*time.Millisecond)
			m.GracefulShutdownTimeout = new(shutdownTakes)
		}})
		w := o.add(t, role, workers(1), act)
		o.start(t)
		return o, w
	}
	a, first := start("a", func(context.Context, *corev1.ConfigMap) error { leads.Add(1); holdOn(release); return nil })
	let := onceClosed(t, release)
	a.elected(t)
	b, second := start("b", func(context.Context, *corev1.ConfigMap) error { return nil })
	edit(t.Context(), t, p, ns, stuck, "first")
	await(t, patience, "the check of the leader fails", func() bool { return a.deadlines.Check(nil) != nil })
	if err := b.deadlines.Check(nil); err != nil || len(second.tried(stuck)) > 0 {
		t.Errorf("the standby has reconciled %v, and fails with %v", second.tried(stuck), err)
	}

	begin := time.Now()
	a.cancel()
	await(t, patience, "the other one reconciles", func() bool { return second.through("first") })
	took := time.Since(begin)
	let()
	<-a.ended
	b.wantIdle(t)
	await(t, patience, "it returns", func() bool { return len(a.journal.find(saidReturned, first.controller)) == 1 })
	a.wantIdle(t)
	b.wantCounts(t, second.controller, map[string]float64{"deadline_overruns_total": 0, "wedges_total": 0})
	figures(t, map[string]any{"handOverTook": took, "error": a.err.Error(), "attemptsOfTheFirst": leads.Load()})
}

// The leader has a wedged reconcile, and cannot renew its lease. The manager ends at
// once, as ever: nobody waits for what is wedged, and no restart has to be asked for.
func TestLeadershipLost(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	cfg, _, tcp := proxied(t, p, p.Config())
	const renewDeadline = 3 * time.Second
	ns := newNamespace(t, p)
	o := newOperator(t, p, operatorOptions{hasty: true, ns: ns, config: cfg, manager: func(m *manager.Options) {
		m.LeaderElection, m.LeaderElectionID, m.LeaderElectionNamespace = true, election, ns
		m.LeaseDuration, m.RenewDeadline, m.RetryPeriod = new(2*renewDeadline), new(renewDeadline), new(500*time.Millisecond)
	}})
	failing := o.wedge(t, p)
	tcp.Refuse()
	tcp.Reset()
	begin := time.Now()
	<-o.ended
	if o.err == nil || o.err.Error() != "leader election lost" {
		t.Errorf("the manager ended with %v", o.err)
	}
	took := time.Since(begin)
	o.wantNoRestart(t, failing)
	figures(t, map[string]any{"endedAfter": took})
}
