// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts what happens to lists and watches.
type metrics struct {
	ends    *prometheus.CounterVec
	headers *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{
		ends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "freshwatch_transport_streams_ended_total",
			Help: "Lists and watches that ended, and why.",
		}, []string{"verb", "reason"}),
		headers: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "freshwatch_transport_header_wait_seconds",
			Help:    "How long lists and watches waited for their response to begin.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9), // up to 65 s
		}, []string{"verb"}),
	}
	for _, reason := range reasonNames { // so that the first of each is an increase
		m.ends.WithLabelValues(watch.verb(), reason)
		m.ends.WithLabelValues(list.verb(), reason)
	}
	return m
}

func (m *metrics) ended(k requestKind, r EndReason) {
	m.ends.WithLabelValues(k.verb(), r.String()).Inc()
}

func (m *metrics) waited(k requestKind, d time.Duration) {
	m.headers.WithLabelValues(k.verb()).Observe(d.Seconds())
}

// verb is that of RBAC.
func (k requestKind) verb() string {
	if k == watch {
		return "watch"
	}
	return "list"
}

// descs are the series that are made when they are asked for.
type descs struct {
	streams, connections, opened, failed, lost, recycled, unauthorized, since, exits *prometheus.Desc
}

func newDescs() descs {
	d := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("freshwatch_transport_"+name, help, labels, nil)
	}
	return descs{
		streams:      d("watches", "Watches that are open. Absent while none is.", "group", "version", "resource", "namespace"),
		connections:  d("connections", "Connections that are open."),
		opened:       d("connections_opened_total", "Connections opened."),
		failed:       d("dial_errors_total", "Connections that could not be opened."),
		lost:         d("pings_lost_total", "Connections that did not answer an HTTP/2 PING while a list or watch was on them."),
		recycled:     d("connections_recycled_total", "Connections closed to have new ones dialed."),
		unauthorized: d("unauthorized_total", "Responses of 401: to this process's own credential (counted), or to another, none, or another host (ignored).", "verdict"),
		since:        d("unauthorized_seconds", "How long this process's credential has been answered with 401, without a success; 0 when it works."),
		exits:        d("unauthorized_exits_total", "Exits because of a dead credential. Seen only where ExitOptions.Exit does not end the process."),
	}
}

// label makes a label's value of a part of a path, which can be anything.
func label(part string) string { return strings.ToValidUTF8(part, "\uFFFD") }

// Describe implements prometheus.Collector.
func (t *Transport) Describe(ch chan<- *prometheus.Desc) {
	d := t.descs
	for _, desc := range []*prometheus.Desc{d.streams, d.connections, d.opened, d.failed, d.lost, d.recycled, d.unauthorized, d.since, d.exits} {
		ch <- desc
	}
	t.metrics.ends.Describe(ch)
	t.metrics.headers.Describe(ch)
}

// Collect implements prometheus.Collector. The series have no label for the
// config: where one process wraps several, register each Transport with
// prometheus.WrapRegistererWith.
func (t *Transport) Collect(ch chan<- prometheus.Metric) {
	d := t.descs
	counter := func(desc *prometheus.Desc, n uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(desc *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
	}
	type name struct{ group, version, resource, namespace string }
	open := map[name]int{}
	for _, s := range t.Streams() {
		open[name{label(s.GVR.Group), label(s.GVR.Version), label(s.GVR.Resource), label(s.Namespace)}]++
	}
	for n, count := range open {
		gauge(d.streams, float64(count), n.group, n.version, n.resource, n.namespace)
	}
	gauge(d.connections, float64(t.dialer.open()))
	counter(d.opened, t.dialer.opened.Load())
	counter(d.failed, t.dialer.failed.Load())
	counter(d.lost, t.dialer.lost.Load())
	counter(d.recycled, t.dialer.recycled.Load())
	u := t.unauthorized.snapshot()
	counter(d.unauthorized, u.counted, "counted")
	counter(d.unauthorized, u.ignored, "ignored")
	counter(d.exits, u.exits)
	gauge(d.since, u.seconds)
	t.metrics.ends.Collect(ch)
	t.metrics.headers.Collect(ch)
}
