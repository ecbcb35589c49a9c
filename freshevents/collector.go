// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import "github.com/prometheus/client_golang/prometheus"

// desc is that of the one series.
func (e *Events) desc() *prometheus.Desc {
	return prometheus.NewDesc("freshwatch_events_written_total",
		"Attempts to write a Kubernetes Event, by how they ended. After error it is tried again; dropped: there is no object that it could be about.", []string{"result"}, nil)
}

// Describe implements prometheus.Collector.
func (e *Events) Describe(ch chan<- *prometheus.Desc) { ch <- e.desc() }

// Collect implements prometheus.Collector.
func (e *Events) Collect(ch chan<- prometheus.Metric) {
	e.mu.Lock()
	counts := e.counts
	e.mu.Unlock()
	for r, name := range resultNames {
		ch <- prometheus.MustNewConstMetric(e.desc(), prometheus.CounterValue, float64(counts[r]), name)
	}
}
