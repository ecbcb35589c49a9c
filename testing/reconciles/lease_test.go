// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// canaryAnnotation is where the watch canary keeps its own budget.
const canaryAnnotation = "freshwatch.github.io/restarts"

// The Lease of the watch canary and of this budget is the same one. Both want a restart
// at the same time, the canary renews it meanwhile, and further replicas note theirs:
// nothing that was noted is lost.
func TestLeaseIsShared(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	cfg, api, tcp := proxied(t, p, p.Config())
	o := newOperator(t, p, operatorOptions{hasty: true, config: cfg})
	canary, err := watchcanary.New(o.mgr, watchcanary.Options{Namespace: o.ns, Interval: watchcanary.MinInterval, FailAfter: watchcanary.MinFailAfter, Logger: o.journal.logger()})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.mgr.Add(canary); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	o.add(t, "ignores", workers(1), func(context.Context, *corev1.ConfigMap) error { holdOn(release); return nil })
	o.start(t)
	onceClosed(t, release)
	await(t, patience, "the canary is fresh", func() bool { return canary.Status().State == watchcanary.Fresh })

	dead := api.Inject(faultproxy.Match{Verb: "watch", Resource: "leases", Namespace: o.ns}, faultproxy.Silence{OnlyOpen: true})
	if dead.Hits() != 1 {
		t.Errorf("silenced %d watches, want 1", dead.Hits())
	}
	edit(t.Context(), t, p, o.ns, stuck, "first")
	begin := time.Now()
	await(t, patience, "both want a restart", func() bool { return canary.Check(nil) != nil && o.deadlines.Check(nil) != nil })
	both := time.Since(begin)
	wantNoted(t, sharedLease(t, p, o.ns), 1, 1)

	tcp.Reset() // a dead stream ends with its connection at last
	const replicas, times = 3, 4
	granted := askTogether(t, p, o.ns, replicas, times)
	renewed := sharedLease(t, p, o.ns).Spec.RenewTime
	for range 2 {
		await(t, patience, "the canary renews it", func() bool { return renewed.Before(sharedLease(t, p, o.ns).Spec.RenewTime) })
		renewed = sharedLease(t, p, o.ns).Spec.RenewTime
	}
	wantNoted(t, sharedLease(t, p, o.ns), 1, 1+granted)
	figures(t, map[string]any{"bothWantARestartAfter": both, "asked": replicas * times, "granted": granted})
}

// A restart that could not be noted for ten minutes, since the API server was away from
// one replica, is noted beside what another one has noted meanwhile.
func TestLateNote(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	ns := newNamespace(t, p)
	b, err := reconcile.NewRestartBudget(clientOf{p.Config(), p.HTTP}, reconcile.RestartBudgetOptions{Namespace: ns})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, at := range []time.Time{now, now.Add(-10 * time.Minute)} {
		if granted, err := b.Ask(t.Context(), at); !granted || err != nil {
			t.Errorf("%v, %v", granted, err)
		}
	}
	wantNoted(t, sharedLease(t, p, ns), 0, 2)
}

// askTogether lets several replicas ask for restarts of their own, all at once, and
// returns how many were granted. One that meets too many others is not granted.
func askTogether(t *testing.T, p *realplane.Plane, ns string, replicas, times int) (granted int) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	epoch := time.Now().Add(-time.Minute)
	for r := range replicas {
		b, err := reconcile.NewRestartBudget(clientOf{p.Config(), p.HTTP}, reconcile.RestartBudgetOptions{Namespace: ns, Restarts: 32})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for i := range times {
				ok, err := b.Ask(t.Context(), epoch.Add(time.Duration(r*times+i)*time.Second))
				if err != nil {
					t.Logf("replica %d: %v", r, err)
				}
				mu.Lock()
				if ok {
					granted++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if granted < times {
		t.Errorf("%d restarts were granted", granted)
	}
	return granted
}

func sharedLease(t *testing.T, p *realplane.Plane, ns string) *coordinationv1.Lease {
	t.Helper()
	lease, err := p.Typed.CoordinationV1().Leases(ns).Get(t.Context(), reconcile.DefaultLease, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// wantNoted fails unless so many restarts are noted on the Lease by either.
func wantNoted(t *testing.T, lease *coordinationv1.Lease, canary, wedges int) {
	t.Helper()
	for annotation, want := range map[string]int{canaryAnnotation: canary, wedgeAnnotation: wedges} {
		if got := noted(lease, annotation); len(got) != want {
			t.Errorf("%s says %q, want %d restarts", annotation, got, want)
		}
	}
}

func noted(lease *coordinationv1.Lease, annotation string) []string {
	return strings.FieldsFunc(lease.Annotations[annotation], func(r rune) bool { return r == ',' })
}
