// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

type histogram = prometheus.Histogram

// result is how a write ended.
type result int

const (
	acknowledged result = iota
	forbidden
	contended
	conflicts
	timedOut
	otherwise
)

var resultNames = [...]string{"ok", "forbidden", "contended", "conflict", "timeout", "error"}

func resultOf(err error) result {
	switch {
	case err == nil:
		return acknowledged
	case errors.Is(err, errContended):
		return contended
	case errors.Is(err, errConflicts):
		return conflicts
	case apierrors.IsForbidden(err):
		return forbidden
	case errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return timedOut
	}
	return otherwise
}

// counts only grow. The canary's lock guards them.
type counts struct {
	writes [len(resultNames)]uint64
	asked  uint64
}

func (c *counts) countWrite(err error) { c.writes[resultOf(err)]++ }

// descs are the series of a Canary.
type descs struct {
	state, unseen, writes, asked, exhausted, missing *prometheus.Desc
}

func constLabels(namespace, name string) prometheus.Labels {
	return prometheus.Labels{"lease_namespace": namespace, "lease": name}
}

func newDescs(namespace, name string) descs {
	d := func(series, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("freshwatch_canary_"+series, help, labels, constLabels(namespace, name))
	}
	return descs{
		state:     d("state", "1 for the state of the canary, 0 for the others.", "state"),
		unseen:    d("oldest_unseen_write_seconds", "Age of the oldest acknowledged write that has not come back over the watch. 0: all have."),
		writes:    d("writes_total", "Writes of the Lease, by how they ended.", "result"),
		asked:     d("restarts_asked_total", "Restarts that this process has asked for by failing its liveness check."),
		exhausted: d("restart_budget_exhausted", "1 while a restart would be asked for, but too many have not helped."),
		missing:   d("missing_rights", "How many of the verbs that the canary needs on its Lease this process lacks."),
	}
}

// newHistogram is that of round trips: milliseconds on a healthy cluster, and minutes
// where a stall was healed.
func newHistogram(namespace, name string) histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:        "freshwatch_canary_round_trip_seconds",
		Help:        "Time from sending a write of the Lease until its event came back.",
		ConstLabels: constLabels(namespace, name),
		Buckets:     []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600},
	})
}

// Describe implements prometheus.Collector.
func (c *Canary) Describe(ch chan<- *prometheus.Desc) {
	d := c.descs
	for _, desc := range []*prometheus.Desc{d.state, d.unseen, d.writes, d.asked, d.exhausted, d.missing} {
		ch <- desc
	}
	c.trips.Describe(ch)
}

// Collect implements prometheus.Collector.
func (c *Canary) Collect(ch chan<- prometheus.Metric) {
	st := c.Status()
	c.mu.Lock()
	n := c.counts
	c.mu.Unlock()
	d := c.descs
	gauge := func(desc *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
	}
	count := func(desc *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(v), labels...)
	}
	for s, name := range stateNames {
		gauge(d.state, one(State(s) == st.State), name)
	}
	gauge(d.unseen, st.Unseen.Seconds())
	for r, name := range resultNames {
		count(d.writes, n.writes[r], name)
	}
	count(d.asked, n.asked)
	gauge(d.exhausted, one(st.Exhausted))
	gauge(d.missing, float64(len(st.Missing)))
	c.trips.Collect(ch)
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
