// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// generationDescs are the series of a Generations.
type generationDescs struct {
	objects, trailing, lagging, oldest, reads, age *prometheus.Desc
}

func generationLabels() []string { return []string{"group", "version", "resource", "namespace"} }

func newGenerationDescs() generationDescs {
	d := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("freshwatch_generation_"+name, help, append(generationLabels(), labels...), nil)
	}
	return generationDescs{
		objects:  d("objects", "Objects of the kind at the last complete read, less those that were being deleted. Absent before the first."),
		trailing: d("trailing_objects", "Objects whose generation was not observed at the last complete read. Absent before the first."),
		lagging:  d("lagging_objects", "Objects whose generation had not been observed for longer than the limit at the last complete read. Absent before the first."),
		oldest:   d("oldest_lag_seconds", "For how long the first of the lagging objects has been seen not to be observed, whether or not the kind can still be read. 0: none lags. Absent before the first complete read."),
		reads:    d("reads_total", "Reads of the kind, by how they ended.", "result"),
		age:      d("read_age_seconds", "Time since the last complete read. Absent before the first."),
	}
}

// newGenerationHistogram is that of the times from edit to report: a second on a healthy
// cluster, and an hour where somebody restarted a blind operator.
func newGenerationHistogram() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshwatch_generation_propagation_seconds",
		Help:    "Time from the newest edit of an object until its controller had reported it, estimated by its managed fields, else by the reads that did not see it observed.",
		Buckets: []float64{1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600},
	}, generationLabels())
}

// Describe implements prometheus.Collector.
func (g *Generations) Describe(ch chan<- *prometheus.Desc) {
	d := g.descs
	for _, desc := range []*prometheus.Desc{d.objects, d.trailing, d.lagging, d.oldest, d.reads, d.age} {
		ch <- desc
	}
	newGenerationHistogram().Describe(ch)
}

// Collect implements prometheus.Collector. There is nothing while Start is not running:
// what a process knew when it led is of no use.
func (g *Generations) Collect(ch chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.run == nil {
		return
	}
	now := g.opts.Clock.Now()
	sent := map[[4]string]bool{}
	for _, k := range g.run.kinds {
		labels := k.labels()
		id := [4]string(labels)
		if sent[id] {
			continue // a guess that is the name of another kind: one series must not be sent twice
		}
		sent[id] = true
		for r, name := range generationResultNames {
			ch <- prometheus.MustNewConstMetric(g.descs.reads, prometheus.CounterValue, float64(k.reads[r]), append(slices.Clip(labels), name)...)
		}
		if k.lastRead.IsZero() {
			continue
		}
		gauge := func(desc *prometheus.Desc, v float64) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
		}
		lagging, oldest := k.books.lagging()
		gauge(g.descs.objects, float64(len(k.books.known)))
		gauge(g.descs.trailing, float64(len(k.books.trails)))
		gauge(g.descs.lagging, float64(lagging))
		age := 0.0
		if lagging > 0 {
			age = now.Sub(oldest).Seconds()
		}
		gauge(g.descs.oldest, age)
		gauge(g.descs.age, now.Sub(k.lastRead).Seconds())
	}
	g.run.propagation.Collect(ch)
}

func (k *generationKind) labels() []string {
	return []string{k.gvr.Group, k.gvr.Version, k.gvr.Resource, k.target.namespace}
}
