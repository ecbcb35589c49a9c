// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// deadlineDescs are the series of a Deadline.
type deadlineDescs struct {
	running, wedged, oldest, limit, overruns, wedges, held *prometheus.Desc
}

func newDeadlineDescs(controller string) deadlineDescs {
	d := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("freshwatch_reconcile_"+name, help, nil, prometheus.Labels{"controller": controller})
	}
	return deadlineDescs{
		running:  d("running", "Reconciles that run now."),
		wedged:   d("wedged", "Reconciles that run now though their context has ended long ago: each holds a worker."),
		oldest:   d("oldest_running_seconds", "Age of the oldest reconcile that runs now. 0: none does."),
		limit:    d("deadline_seconds", "How long a reconcile may take."),
		overruns: d("deadline_overruns_total", "Reconciles that were not done within their deadline."),
		wedges:   d("wedges_total", "Reconciles that have become wedged."),
		held:     d("held_twice_total", "Requests that were put back because they were being reconciled already."),
	}
}

func (d deadlineDescs) describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{d.running, d.wedged, d.oldest, d.limit, d.overruns, d.wedges, d.held} {
		ch <- desc
	}
}

func (w *watch[request]) describe(ch chan<- *prometheus.Desc) { w.descs.describe(ch) }

func (w *watch[request]) collect(ch chan<- prometheus.Metric) {
	w.mu.Lock()
	now, counts, running := w.opts.Clock.Now(), w.counts, len(w.running)
	var wedged int
	var oldest time.Duration
	for _, r := range w.running {
		oldest = max(oldest, now.Sub(r.began))
		if r.progress.stage >= Wedged {
			wedged++
		}
	}
	w.mu.Unlock()
	d := w.descs
	gauge := func(desc *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v)
	}
	count := func(desc *prometheus.Desc, v uint64) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(v))
	}
	gauge(d.running, float64(running))
	gauge(d.wedged, float64(wedged))
	gauge(d.oldest, oldest.Seconds())
	gauge(d.limit, w.opts.Timeout.Seconds())
	count(d.overruns, counts.overruns)
	count(d.wedges, counts.wedges)
	count(d.held, counts.held)
}

// restartDescs are the series of an asker: of one controller, or, with an empty label,
// of all.
type restartDescs struct{ asked, exhausted *prometheus.Desc }

func newRestartDescs(controller string) restartDescs {
	d := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("freshwatch_reconcile_"+name, help, nil, prometheus.Labels{"controller": controller})
	}
	return restartDescs{
		asked:     d("restarts_asked_total", "Restarts that this process has asked for by failing its liveness check."),
		exhausted: d("restart_budget_exhausted", "1 while a restart would be asked for, but too many have not helped."),
	}
}

func (d restartDescs) describe(ch chan<- *prometheus.Desc) { ch <- d.asked; ch <- d.exhausted }

func (d restartDescs) collect(a *asker, ch chan<- prometheus.Metric) {
	asked, exhausted := a.state()
	value := 0.0
	if exhausted {
		value = 1
	}
	ch <- prometheus.MustNewConstMetric(d.asked, prometheus.CounterValue, float64(asked))
	ch <- prometheus.MustNewConstMetric(d.exhausted, prometheus.GaugeValue, value)
}

// Describe implements prometheus.Collector.
func (d *Deadline[request]) Describe(ch chan<- *prometheus.Desc) {
	d.watch.describe(ch)
	newRestartDescs(d.watch.opts.Name).describe(ch)
}

// Collect implements prometheus.Collector.
func (d *Deadline[request]) Collect(ch chan<- prometheus.Metric) {
	d.watch.collect(ch)
	newRestartDescs(d.watch.opts.Name).collect(d.watch.asker, ch)
}
