// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"github.com/prometheus/client_golang/prometheus"
)

// descs are the series of a gate.
type descs struct {
	closed, requeues, overrides *prometheus.Desc
}

func newDescs(controller string) descs {
	d := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("freshwatch_reconcile_gate_"+name, help, labels, prometheus.Labels{"controller": controller})
	}
	return descs{
		closed: d("closed", "1 while reconciles are held because what the gate knows of the kind is stale, 0 otherwise. Absent while no informer of it is monitored and that does not close the gate.",
			"group", "version", "resource", "namespace"),
		requeues:  d("requeues_total", "Requests that went back to the queue because the gate was closed."),
		overrides: d("overrides_total", "Reconciles that were let through because the gate was closed for longer than allowed."),
	}
}

func (g *gate) describe(ch chan<- *prometheus.Desc) {
	ch <- g.descs.closed
	ch <- g.descs.requeues
	ch <- g.descs.overrides
}

// collect reports the gate as it is now. A kind's labels are those by which it was
// given to the gate.
func (g *gate) collect(ch chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.look(g.opts.Clock.Now())
	for i := range g.kinds {
		k := &g.kinds[i]
		if !k.monitored && !k.closes() {
			continue
		}
		closed := 0.0
		if k.closes() {
			closed = 1
		}
		ch <- prometheus.MustNewConstMetric(g.descs.closed, prometheus.GaugeValue, closed, k.of.Group, k.of.Version, k.of.Resource, k.of.Namespace)
	}
	ch <- prometheus.MustNewConstMetric(g.descs.requeues, prometheus.CounterValue, float64(g.requeues))
	ch <- prometheus.MustNewConstMetric(g.descs.overrides, prometheus.CounterValue, float64(g.overrides))
}
