// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/internal/streamctx"
)

// atRest is an informer to which nothing happens.
type atRest struct{ store cache.Store }

func (atRest) HasSynced() bool                 { return true }
func (atRest) LastSyncResourceVersion() string { return "1000" }
func (a atRest) GetStore() cache.Store         { return a.store }
func (atRest) IsStopped() bool                 { return false }

// BenchmarkLook measures what a monitor of 1,000 informers does every 500 ms while
// nothing happens: to informers that wait for something, and to those that rest. It
// has to stay without allocations.
func BenchmarkLook(b *testing.B) {
	for name, waiting := range map[string]bool{"waiting": true, "resting": false} {
		b.Run(name, func(b *testing.B) { benchmarkLook(b, waiting) })
	}
}

func benchmarkLook(b *testing.B, waiting bool) {
	const informers = 1000
	c := testingclock.NewFakeClock(time.Now())
	m, err := New(Options{Clock: c, Audit: AuditOptions{Disabled: true}})
	if err != nil {
		b.Fatal(err)
	}
	for range informers {
		addAtRest(b, m)
	}
	for range 2 { // they begin
		for _, t := range m.informers {
			t.state.reading, t.state.readSoon = true, time.Time{} // so that no read is due
		}
		m.sweep(b.Context())
	}
	for _, t := range m.informers {
		t.state.reading, t.state.freshAsOf = waiting, c.Now()
	}
	m.sweep(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		m.sweep(b.Context())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/informers, "ns/informer")
}

// addAtRest adds an informer with an open watch.
func addAtRest(b *testing.B, m *Monitor) {
	b.Helper()
	lw := m.WrapListerWatcher(&cache.ListWatch{}).(*listerWatcher)
	seconds := int64(3600)
	id, err := lw.begin(streamctx.New(b.Context()), &metav1.ListOptions{TimeoutSeconds: &seconds})
	if err != nil {
		b.Fatal(err)
	}
	var on sentOn
	lw.answered(id, &on, func() {})
	if err := m.Track(atRest{cache.NewStore(cache.MetaNamespaceKeyFunc)}, lw, Informer{Resource: "pods"}); err != nil {
		b.Fatal(err)
	}
}
