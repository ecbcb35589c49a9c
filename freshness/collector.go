// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// labels name a series after its informer. Several informers may share them,
// such as a typed and a metadata-only one of the same kind: their series is one,
// with the worst of their states and the sum of their counts.
func labels(more ...string) []string {
	return append([]string{"group", "version", "resource", "namespace"}, more...)
}

// descs are the series of a Monitor.
type descs struct {
	bound, verdict, reads, proofs, renewals, doubts, audits, failedAudits, diverged, pending, blocked, cures, proven *prometheus.Desc
}

func newDescs() descs {
	d := func(name, help string, more ...string) *prometheus.Desc {
		return prometheus.NewDesc("freshwatch_informer_"+name, help, labels(more...), nil)
	}
	return descs{
		bound:        d("staleness_bound_seconds", "How old the newest proof is that the informer's cache holds every change. Absent until the first proof."),
		verdict:      d("verdict", "1 for the verdict on the informer, 0 for the others.", "verdict"),
		reads:        d("reads_total", "Requests made to prove the informer fresh."),
		proofs:       d("proofs_total", "Proofs that succeeded."),
		renewals:     d("renewals_total", "Watches renewed to have a proof in time, or at another second than others."),
		doubts:       d("overdue_proofs_total", "Proofs that were overdue, each the start of a search for the cause."),
		audits:       d("audits_total", "Comparisons of the cache's contents with the API server's."),
		failedAudits: d("audits_failed_total", "Comparisons of contents that failed."),
		diverged:     d("diverged_objects", "Objects that the last audit found to differ from the API server's."),
		pending:      d("pending_notifications", "Notifications that wait for busy event handlers, those added with Monitor.AddEventHandler."),
		blocked:      d("handler_blocked_seconds", "For how long an event handler, added with Monitor.AddEventHandler, has been busy with one notification."),
		cures:        d("cures_total", "Cures tried on the informer.", "cure"),
		proven:       d("cures_proven_total", "Cures after which the overdue proof was reached.", "cure"),
	}
}

// Describe implements prometheus.Collector.
func (m *Monitor) Describe(ch chan<- *prometheus.Desc) {
	d := m.descs
	for _, desc := range []*prometheus.Desc{d.bound, d.verdict, d.reads, d.proofs, d.renewals, d.doubts, d.audits, d.failedAudits, d.diverged, d.pending, d.blocked, d.cures, d.proven} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector over one snapshot. An informer's
// series end with the informer.
func (m *Monitor) Collect(ch chan<- prometheus.Metric) {
	d := m.descs
	for _, s := range merge(m.Status()) {
		l := func(more ...string) []string {
			return append([]string{s.Informer.Group, s.Informer.Version, s.Informer.Resource, s.Informer.Namespace}, more...)
		}
		count := func(desc *prometheus.Desc, n uint64, more ...string) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), l(more...)...)
		}
		gauge := func(desc *prometheus.Desc, v float64, more ...string) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, l(more...)...)
		}
		if !s.FreshAsOf.IsZero() {
			gauge(d.bound, s.Staleness.Seconds())
		}
		for v, name := range verdictNames {
			is := 0.0
			if Verdict(v) == s.Verdict {
				is = 1
			}
			gauge(d.verdict, is, name)
		}
		count(d.reads, s.Reads)
		count(d.proofs, s.Proofs)
		count(d.renewals, s.Renewals)
		count(d.doubts, s.Doubts)
		count(d.audits, s.Audits)
		count(d.failedAudits, s.FailedAudits)
		gauge(d.diverged, float64(len(s.Diverged)))
		gauge(d.pending, float64(s.Pending))
		gauge(d.blocked, s.Blocked.Seconds())
		for r, name := range rungNames {
			count(d.cures, s.Cures[Rung(r)], name)
			count(d.proven, s.ProvenCures[Rung(r)], name)
		}
	}
}

// merge makes one status of those that share an informer's name. The input is
// sorted by name.
func merge(in []Status) []Status {
	var out []Status
	for _, s := range in {
		if n := len(out); n > 0 && out[n-1].Informer == s.Informer {
			out[n-1] = worse(out[n-1], s)
			continue
		}
		out = append(out, s)
	}
	return out
}

// worse joins the statuses of two informers of a kind: the worse verdict, the older
// proof, and the sum of what is counted.
func worse(a, b Status) Status {
	if severity(b.Verdict) > severity(a.Verdict) {
		a.Informer, a.Verdict, a.Reason, a.Since, a.stalledFor = b.Informer, b.Verdict, b.Reason, b.Since, b.stalledFor
	}
	if a.Behind == LevelNone {
		a.Behind = b.Behind
	}
	if b.FreshAsOf.Before(a.FreshAsOf) { // the zero time, nothing proven, is before all
		a.FreshAsOf, a.Staleness = b.FreshAsOf, b.Staleness
	}
	a.Reads += b.Reads
	a.Proofs += b.Proofs
	a.Renewals += b.Renewals
	a.Doubts += b.Doubts
	a.Audits += b.Audits
	a.FailedAudits += b.FailedAudits
	a.Pending += b.Pending
	a.Blocked = max(a.Blocked, b.Blocked)
	a.Diverged = append(a.Diverged, b.Diverged...)
	for r := range rungNames {
		a.Cures[Rung(r)] += b.Cures[Rung(r)]
		a.ProvenCures[Rung(r)] += b.ProvenCures[Rung(r)]
	}
	return a
}

// severity orders verdicts by how much somebody should care.
func severity(v Verdict) int {
	return slices.Index([]Verdict{Fresh, Syncing, Blind, Unreachable, Suspect, Diverged, ControlPlaneStalled, Stalled}, v)
}
