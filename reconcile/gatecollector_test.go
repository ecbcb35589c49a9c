// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/freshwatch/freshwatch/freshness"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestGateMetricsGolden(t *testing.T) {
	missing := freshness.Informer{Group: "apps", Version: "v1", Resource: "deployments"}
	cleaner := newGated(t, GateOptions{Name: "cleaner", MaxHold: time.Minute}, configMaps, widgets, missing)
	other := newGated(t, GateOptions{Name: "other", CloseUnmonitored: true}, missing)
	r := prometheus.NewPedanticRegistry()
	for _, c := range []prometheus.Collector{cleaner, other} { // two gates, one registry
		if err := r.Register(c); err != nil {
			t.Fatal(err)
		}
	}
	cleaner.monitor.set(widgets, freshness.Stalled)
	cleaner.reconcile(t)
	cleaner.reconcile(t)
	cleaner.after(time.Minute)
	cleaner.reconcile(t)

	page := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	got := page.Body.String()
	golden := filepath.Join("testdata", "gate.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("exposition differs from %s; if that is meant, run the test with -update (-want +got):\n%s", golden, diff)
	}
	problems, err := testutil.GatherAndLint(r)
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
}

// Metrics are those of now, though nothing is reconciled.
func TestGateMetricsWithoutReconciles(t *testing.T) {
	g := newGated(t, GateOptions{}, widgets)
	closed := func() float64 {
		g.after(time.Minute)
		return testutil.ToFloat64(closedOnly{g})
	}
	if got := closed(); got != 0 {
		t.Errorf("closed %v, want 0", got)
	}
	g.monitor.set(widgets, freshness.Stalled)
	if got := closed(); got != 1 {
		t.Errorf("closed %v, want 1", got)
	}
	g.journal.wantLines(t, "are held")
}

// closedOnly collects the first metric of a gate.
type closedOnly struct{ *gated }

func (c closedOnly) Collect(ch chan<- prometheus.Metric) {
	all := make(chan prometheus.Metric, 3)
	c.gated.Collect(all)
	ch <- <-all
}
