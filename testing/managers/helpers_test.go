// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package managers

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// noCures leave a stalled informer stalled.
func noCures() freshness.Options {
	return freshness.Options{DisabledCures: []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List, freshness.Reconnect}}
}

func newMonitor(t *testing.T, opts freshness.Options) *freshness.Monitor {
	t.Helper()
	m, err := freshness.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newManager returns a manager whose informers m monitors. It does not run m.
func newManager(t *testing.T, cfg *rest.Config, m *freshness.Monitor, namespaces ...string) ctrl.Manager {
	t.Helper()
	opts := cache.Options{NewInformer: m.NewInformer}
	for _, ns := range namespaces {
		if opts.DefaultNamespaces == nil {
			opts.DefaultNamespaces = map[string]cache.Config{}
		}
		opts.DefaultNamespaces[ns] = cache.Config{}
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   opts,
		// A reflector that waits before it asks a dead API server again does not look at
		// its context (client-go 0.37).
		GracefulShutdownTimeout: new(5 * time.Minute),
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

func add(t *testing.T, mgr ctrl.Manager, r ...interface{ Start(context.Context) error }) {
	t.Helper()
	for _, r := range r {
		if err := mgr.Add(r); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a manager until the end of the test, or until stop is called.
func run(t *testing.T, mgr ctrl.Manager) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			t.Errorf("the manager stopped with %v", err)
		}
	})
	stop = func() {
		cancel()
		wg.Wait()
	}
	t.Cleanup(stop)
	<-mgr.Elected() // closed once it runs
	return stop
}

// informers makes the informers of kinds, or finds them, and waits until they have
// synced.
func informers(t *testing.T, c cache.Cache, objs ...client.Object) {
	t.Helper()
	for _, obj := range objs {
		if _, err := c.GetInformer(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(t *testing.T, c cache.Cache, obj client.Object) {
	t.Helper()
	if err := c.RemoveInformer(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

func configMap(namespace, color string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}, Data: map[string]string{"color": color}}
}

func create(t *testing.T, srv *freshtest.Server, objs ...client.Object) {
	t.Helper()
	for _, obj := range objs {
		if err := srv.Create(obj); err != nil {
			t.Fatal(err)
		}
	}
}

// pass lets time go by while somebody else writes something.
func pass(d time.Duration, servers ...*freshtest.Server) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for _, s := range servers {
			s.Bump(1)
		}
		time.Sleep(time.Second)
	}
	synctest.Wait()
}

// wantVerdicts fails unless m monitors these informers, by name, with these
// verdicts, and what is Fresh is proven young enough.
func wantVerdicts(t *testing.T, m *freshness.Monitor, want map[string]freshness.Verdict) {
	t.Helper()
	if diff := cmp.Diff(want, verdicts(t, m)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
		for _, st := range m.Status() {
			t.Logf("%v: %s", st.Informer, st.Reason)
		}
	}
}

// eventuallyVerdicts is wantVerdicts for monitors without cures, which cannot renew
// a watch to have a proof in time: for a minute after the reflector has renewed it
// by itself, a healthy informer may be Suspect.
func eventuallyVerdicts(t *testing.T, m *freshness.Monitor, want map[string]freshness.Verdict) {
	t.Helper()
	for range 120 {
		if cmp.Equal(want, verdicts(t, m)) {
			return
		}
		time.Sleep(time.Second)
	}
	wantVerdicts(t, m, want)
}

func verdicts(t *testing.T, m *freshness.Monitor) map[string]freshness.Verdict {
	t.Helper()
	got := map[string]freshness.Verdict{}
	for _, st := range m.Status() {
		if _, twice := got[st.Informer.String()]; twice {
			t.Errorf("two informers are called %v", st.Informer)
		}
		got[st.Informer.String()] = st.Verdict
		if st.Verdict == freshness.Fresh && (st.FreshAsOf.IsZero() || st.Staleness > freshness.DefaultMaxStaleness) {
			t.Errorf("%v is Fresh with %+v", st.Informer, st)
		}
	}
	return got
}

// wantGoroutines fails if there are more than n goroutines, and stay for minutes.
func wantGoroutines(t *testing.T, n int, servers ...*freshtest.Server) {
	t.Helper()
	for range 180 {
		if runtime.NumGoroutine() <= n {
			return
		}
		pass(time.Second, servers...)
	}
	t.Errorf("%d goroutines, want at most %d", runtime.NumGoroutine(), n)
}

// registered returns a registry with the collectors of cs.
func registered(t *testing.T, cs ...prometheus.Collector) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	for _, c := range cs {
		if err := r.Register(c); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// reads returns the series of freshwatch_informer_reads_total, by their labels that
// are not empty.
func reads(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "freshwatch_informer_reads_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			name := ""
			for _, l := range m.GetLabel() { // sorted by name
				if l.GetValue() != "" && l.GetName() != "version" {
					name += fmt.Sprintf("%s=%s ", l.GetName(), l.GetValue())
				}
			}
			out[name] = m.GetCounter().GetValue()
		}
	}
	return out
}

// wantSeries fails unless g has exactly these informers' series.
func wantSeries(t *testing.T, g prometheus.Gatherer, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(reads(t, g)))); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}
