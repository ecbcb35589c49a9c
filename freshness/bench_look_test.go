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
// nothing happens. It has to stay without allocations.
func BenchmarkLook(b *testing.B) {
	const informers = 1000
	c := testingclock.NewFakeClock(time.Now())
	m, err := New(Options{Clock: c, Audit: AuditOptions{Disabled: true}})
	if err != nil {
		b.Fatal(err)
	}
	seconds := int64(3600)
	for range informers {
		lw := m.WrapListerWatcher(&cache.ListWatch{}).(*listerWatcher)
		opts := metav1.ListOptions{TimeoutSeconds: &seconds}
		id, err := lw.begin(streamctx.New(b.Context()), &opts)
		if err != nil {
			b.Fatal(err)
		}
		var conn string
		lw.answered(id, &conn, func() {})
		if err := m.Track(atRest{cache.NewStore(cache.MetaNamespaceKeyFunc)}, lw, Informer{Resource: "pods"}); err != nil {
			b.Fatal(err)
		}
	}
	for _, t := range m.informers {
		t.state.reading = true // so that no read is due
	}
	m.sweep(b.Context()) // which has all of them begin
	b.ReportAllocs()
	for b.Loop() {
		m.sweep(b.Context())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/informers, "ns/look")
}
