// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/internal/exposition"
)

func TestGateMetricsGolden(t *testing.T) {
	missing := freshness.Informer{Group: "apps", Version: "v1", Resource: "deployments"}
	cleaner := newGated(t, GateOptions{Name: "cleaner", MaxHold: time.Minute}, configMaps, widgets, missing)
	other := newGated(t, GateOptions{Name: "other", CloseUnmonitored: true}, missing)
	cleaner.monitor.set(widgets, freshness.Stalled)
	cleaner.reconcile(t)
	cleaner.reconcile(t)
	cleaner.after(time.Minute)
	cleaner.reconcile(t)

	exposition.Golden(t, "gate.golden", cleaner, other) // two gates, one registry
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
