// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// eventSource is a ListerWatcher whose watch delivers events as fast as they
// are read.
type eventSource struct {
	events []watch.Event
	result chan watch.Event
}

func newEventSource(n int) *eventSource {
	s := &eventSource{result: make(chan watch.Event)}
	for i := range n {
		s.events = append(s.events, watch.Event{Type: watch.Modified, Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "cm-" + strconv.Itoa(i%100), ResourceVersion: strconv.Itoa(100 + i),
		}}})
	}
	return s
}

func (s *eventSource) List(metav1.ListOptions) (apiruntime.Object, error) {
	return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "99"}}, nil
}

func (s *eventSource) Watch(metav1.ListOptions) (watch.Interface, error) { return s, nil }

func (s *eventSource) IsWatchListSemanticsUnSupported() bool { return true }

func (s *eventSource) ResultChan() <-chan watch.Event { return s.result }

func (s *eventSource) Stop() {}

// drain runs an informer over the source's events, and returns how long they
// took from the first to the last in the store, and the allocations.
func (s *eventSource) drain(b *testing.B, newInformer func(cache.ListerWatcher, apiruntime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer) (time.Duration, uint64) {
	b.Helper()
	inf := newInformer(s, &corev1.ConfigMap{}, 0, cache.Indexers{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); inf.RunWithContext(ctx) }()
	if !cache.WaitForCacheSync(ctx.Done(), inf.HasSynced) {
		b.Fatal("not synced")
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for _, e := range s.events {
		s.result <- e
	}
	last := s.events[len(s.events)-1].Object.(*corev1.ConfigMap).ResourceVersion
	for inf.GetStore().LastStoreSyncResourceVersion() != last {
		runtime.Gosched()
	}
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	cancel()
	<-done
	return took, after.Mallocs - before.Mallocs
}

// BenchmarkInformer puts the same events through a guarded informer and a stock
// one, in turn and in one run. It reports the medians of the pairs: throughput
// as a ratio (1 is no cost), and the allocations per event that the guard adds.
func BenchmarkInformer(b *testing.B) {
	const events = 50_000
	m, err := freshness.New(freshness.Options{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = m.Start(ctx) }()
	defer func() { cancel(); <-done }()

	source := newEventSource(events)
	var ratios, allocs []float64
	for i := 0; b.Loop(); i++ {
		stock := func() (time.Duration, uint64) { return source.drain(b, cache.NewSharedIndexInformer) }
		guarded := func() (time.Duration, uint64) { return source.drain(b, m.NewInformer) }
		var ts, tg time.Duration
		var as, ag uint64
		if i%2 == 0 {
			ts, as = stock()
			tg, ag = guarded()
		} else {
			tg, ag = guarded()
			ts, as = stock()
		}
		ratios = append(ratios, float64(ts)/float64(tg))
		allocs = append(allocs, (float64(ag)-float64(as))/events)
	}
	b.ReportMetric(median(ratios), "throughput-ratio")
	b.ReportMetric(median(allocs), "extra-allocs/event")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
