// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"net/url"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// control is how many times the deadline a reconcile without one is seen to hang.
const control = 3

// The connection of a client that a reconciler has beside the cache, as of one to
// another cluster, is a black hole. Its call returns with the deadline, and the object is
// tried again until the way is free; without a deadline it just hangs.
func TestBlackHole(t *testing.T) {
	realplane.Test(t)
	for name, n := range map[string]int{"one worker": 1, "several workers": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedPlane.Get(t)
			o := newOperator(t, p, operatorOptions{})
			remote, tcp := newRemote(t, p, o)
			read := func(ctx context.Context, _ *corev1.ConfigMap) error {
				return remote.Get(ctx, client.ObjectKey{Namespace: o.ns, Name: "far-away"}, &corev1.Secret{})
			}
			w := o.add(t, "guarded", workers(n), read)
			without := o.addWithoutDeadline(t, "unguarded", workers(n), read)
			o.start(t)
			edit(t.Context(), t, p, o.ns, stuck, "first")
			await(t, patience, "both are through", func() bool { return w.through("first") && without.through("first") })
			c := o.serve(t, p, w)
			await(t, patience, "customers are served", func() bool { return len(c.all()) >= customersAtOnce })

			hole := tcp.Blackhole(faultproxy.Blackhole{Existing: true})
			before, beforeWithout := len(w.tried(stuck)), len(without.tried(stuck))
			edit(t.Context(), t, p, o.ns, stuck, "second")
			await(t, patience, "overruns", func() bool { return len(w.returned()) >= before+control && len(without.tried(stuck)) > beforeWithout })
			hung := w.returned()[before : before+control]
			if tries := without.tried(stuck)[beforeWithout:]; len(tries) != 1 || !tries[0].ended.IsZero() {
				t.Errorf("without a deadline %+v, want one reconcile that hangs", tries)
			}
			if hole.Hits() == 0 {
				t.Error("no connection is in the hole")
			}
			hole.Lift()
			await(t, patience, "success", func() bool { return w.through("second") && without.through("second") })
			c.stop()

			wantCut(t, hung)
			held := without.wantHung(t, beforeWithout, hung)
			o.wantOnlyOverruns(t, w)
			c.wantServed(t, n, hung...)
			w.wantOneAtOnce(t)
			o.wantIdle(t)
			longest, served := c.longest(hung[0].began)
			figures(t, map[string]any{
				"overrunAfter": hung[0].took(), "error": hung[0].err.Error(), "withoutDeadlineHangsFor": held,
				"longestWaitOfOthers": longest, "othersServed": served,
			})
		})
	}
}

// wantHung fails unless the n-th reconcile of the object called stuck has lasted while
// those with a deadline came to its end again and again, and returns for how long.
func (w *worker) wantHung(t *testing.T, n int, others []attempt) time.Duration {
	t.Helper()
	a := w.returned()[n]
	if first, last := others[0], others[len(others)-1]; a.began.After(first.ended) || a.ended.Before(last.ended) {
		t.Errorf("without a deadline it hung from %v to %v, with one it was over from %v to %v", a.began, a.ended, first.ended, last.ended)
	}
	return a.took()
}

// wantOnlyOverruns fails if a reconcile of the object called stuck has failed for another
// reason than its deadline, or the last one at all.
func (o *operator) wantOnlyOverruns(t *testing.T, w *worker) {
	t.Helper()
	tries := w.returned()
	var overruns float64
	for _, a := range tries {
		if a.cause != nil {
			overruns++
		}
	}
	o.journal.wantOverruns(t, o.ns, w.controller, int(overruns), timeout)
	o.wantCounts(t, w.controller, map[string]float64{"deadline_overruns_total": overruns, "wedges_total": 0})
	if last := tries[len(tries)-1]; last.cause != nil || last.err != nil || overruns == 0 {
		t.Errorf("the last of %d, with %v overruns, was %+v", len(tries), overruns, last)
	}
}

// newRemote returns a client with connections of its own, and the proxy that they go
// through. There is a Secret to be read by it.
func newRemote(t *testing.T, p *realplane.Plane, o *operator) (client.Client, *faultproxy.TCP) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "far-away"}}
	if _, err := p.Typed.CoreV1().Secrets(o.ns).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cfg := p.Config()
	server, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := faultproxy.NewTCP(server.Host, faultproxy.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close() })
	cfg.Host = "https://" + tcp.Addr()
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpClient.CloseIdleConnections)
	remote, err := client.New(cfg, client.Options{HTTPClient: httpClient, Mapper: o.mgr.GetRESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	return remote, tcp
}
