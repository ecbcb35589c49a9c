// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// A reconcile wedges in each process again. After three restarts that have not helped
// there is no fourth, and somebody is asked to look.
func TestRestartsThatDoNotHelp(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	ns := newNamespace(t, p)
	cfg := newAccount(t, p, ns, budgetRules(t, p, ns)...)
	edit(t.Context(), t, p, ns, stuck, "first")
	begin := time.Now()
	pod := startPod(t, cfg, ns, func(int) bool { return true })

	await(t, 2*patience, "no more restarts", func() bool { return pod.logged(saidExhausted) })
	exhausted := time.Since(begin)
	if got := pod.metric(t, "freshwatch_reconcile_restart_budget_exhausted", ""); got != 1 {
		t.Errorf("the metric of an exhausted budget is %v", got)
	}
	last, n := pod.now()
	if n != reconcile.DefaultRestarts+1 {
		t.Errorf("it is the %d. process, want the %d.", n, reconcile.DefaultRestarts+1)
	}
	edit(t.Context(), t, p, ns, "another", "of late")
	await(t, patience, "others are reconciled", func() bool { return pod.sees("another", "of late") })
	holds(t, 4*time.Second, "alive and exhausted", func() bool {
		life, _ := pod.now()
		_, err := pod.read(t.Context(), life, "/healthz")
		return life == last && err == nil && pod.metric(t, "freshwatch_reconcile_restart_budget_exhausted", "") == 1
	})
	if got := pod.metric(t, "freshwatch_reconcile_wedged", role); got != 1 {
		t.Errorf("%v are wedged, want 1", got)
	}
	if got := noted(sharedLease(t, p, ns), wedgeAnnotation); len(got) != reconcile.DefaultRestarts {
		t.Errorf("the Lease says %q, want %d restarts", got, reconcile.DefaultRestarts)
	}
	figures(t, map[string]any{"restartsAfter": pod.wantRestarts(t, begin, reconcile.DefaultRestarts), "exhaustedAfter": exhausted})
}

// A reconcile wedges, and not in the next process.
func TestRestartThatHelps(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	ns := newNamespace(t, p)
	cfg := newAccount(t, p, ns, budgetRules(t, p, ns)...)
	edit(t.Context(), t, p, ns, stuck, "first")
	begin := time.Now()
	pod := startPod(t, cfg, ns, func(n int) bool { return n == 1 })

	await(t, 2*patience, "reconciled at last", func() bool { return pod.sees(stuck, "first") })
	healed := time.Since(begin)
	last, _ := pod.now()
	holds(t, 5*time.Second, "alive", func() bool { life, _ := pod.now(); return life == last })
	if got := noted(sharedLease(t, p, ns), wedgeAnnotation); len(got) != 1 {
		t.Errorf("the Lease says %q, want one restart", got)
	}
	for metric, controller := range map[string]string{"wedged": role, "restart_budget_exhausted": "", "restarts_asked_total": ""} {
		if got := pod.metric(t, "freshwatch_reconcile_"+metric, controller); got != 0 {
			t.Errorf("%s is %v after the restart", metric, got)
		}
	}
	figures(t, map[string]any{"restartsAfter": pod.wantRestarts(t, begin, 1), "reconciledAfter": healed})
}

// Nobody has created the Role. It says which rules to add, at once and again when it
// matters, and there is no restart: it could not be bounded.
func TestNoRightToNoteARestart(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	ns := newNamespace(t, p)
	o := newOperator(t, p, operatorOptions{hasty: true, ns: ns, config: newAccount(t, p, ns)})
	failing := o.wedge(t, p)
	const rules = "add to its Role there the rules [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}, " +
		"{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [freshwatch-canary], verbs: [get, update]}]"
	await(t, patience, "the rules are in the log", func() bool { return len(o.journal.find(saidAtStart, "")) == 1 })
	if said := o.journal.find(saidAtStart, "")[0].values["reason"]; !strings.Contains(said, rules) || !strings.Contains(said, ns) {
		t.Errorf("it says %q, want %q", said, rules)
	}
	said := o.wantNoRestart(t, failing)
	if !strings.Contains(said, "forbidden") {
		t.Errorf("it says %q when it matters", said)
	}
	if _, err := p.Typed.CoordinationV1().Leases(ns).Get(t.Context(), reconcile.DefaultLease, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Lease is there: %v", err)
	}
	figures(t, map[string]any{"saidWhenItMatters": said})
}

// The API server is away when the restart would be asked for. It is once the server is
// back, a minute later at most, which only FRESHWATCH_SLOW=1 waits for.
func TestNoServerToNoteARestart(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	cfg, _, tcp := proxied(t, p, p.Config())
	o := newOperator(t, p, operatorOptions{hasty: true, config: cfg})
	failing := o.wedge(t, p)
	refusal := tcp.Refuse()
	tcp.Reset()
	of := map[string]any{"said": o.wantNoRestart(t, failing)}
	if os.Getenv("FRESHWATCH_SLOW") != "" {
		refusal.Lift()
		back := time.Now()
		await(t, 2*patience, "a restart is asked for", func() bool { return o.deadlines.Check(nil) != nil })
		of["askedAfterReturn"] = time.Since(back)
		wantNoted(t, sharedLease(t, p, o.ns), 0, 1)
	}
	figures(t, of)
}

// wedge starts the operator, and lets a reconcile of it hang until the test ends. What it
// returns tells whether a restart is wanted.
func (o *operator) wedge(t *testing.T, p *realplane.Plane) (failing func() bool) {
	t.Helper()
	release := make(chan struct{})
	w := o.add(t, "ignores", workers(1), func(context.Context, *corev1.ConfigMap) error { holdOn(release); return nil })
	o.start(t)
	onceClosed(t, release)
	edit(t.Context(), t, p, o.ns, stuck, "first")
	await(t, patience, "it hangs", func() bool { return len(w.tried(stuck)) == 1 })
	return func() bool {
		in := o.deadlines.InFlight()
		return len(in) == 1 && in[0].Stage == reconcile.Failing
	}
}

// wantNoRestart fails if a restart is asked for, and returns why it is not.
func (o *operator) wantNoRestart(t *testing.T, failing func() bool) (reason string) {
	t.Helper()
	await(t, patience, "a restart is wanted", func() bool { return failing() && len(o.journal.find(saidNotNoted, "")) > 0 })
	holds(t, 2*time.Second, "the check passes", func() bool { return o.deadlines.Check(nil) == nil && failing() })
	o.wantCounts(t, "", map[string]float64{"restarts_asked_total": 0, "restart_budget_exhausted": 0})
	lines := o.journal.find(saidNotNoted, "")
	if len(lines) != 1 || len(o.journal.find(saidAsked, "")) > 0 {
		t.Errorf("%d lines, want 1", len(lines))
	}
	return lines[0].values["reason"]
}

// wantRestarts fails unless there were n restarts, all for liveness, and returns when.
func (p *pod) wantRestarts(t *testing.T, begin time.Time, n int) (after []float64) {
	t.Helper()
	got := p.restarted()
	if len(got) != n || slices.ContainsFunc(got, func(r restart) bool { return r.why != livenessFailed }) {
		t.Errorf("restarts %v, want %d for liveness", got, n)
	}
	for _, r := range got {
		after = append(after, r.at.Sub(begin).Round(100*time.Millisecond).Seconds())
	}
	return after
}
