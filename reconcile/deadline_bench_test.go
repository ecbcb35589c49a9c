// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// loaded is a controller with controller-runtime's queue and nothing to do.
type loaded struct {
	queue priorityqueue.PriorityQueue[ctrl.Request]
	done  atomic.Int64
	want  atomic.Int64
	all   chan struct{}
}

// newLoaded starts a controller with that many workers.
func newLoaded(b *testing.B, workers int, limited bool) *loaded {
	b.Helper()
	l := &loaded{all: make(chan struct{}, 1)}
	var r ctrlreconcile.Reconciler = ctrlreconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) {
		if l.done.Add(1) == l.want.Load() {
			l.all <- struct{}{}
		}
		return ctrl.Result{}, nil
	})
	if limited {
		var err error
		if r, err = WithDeadline(r, DeadlineOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	c, err := controller.NewTypedUnmanaged("loaded", controller.Options{
		Reconciler: r, MaxConcurrentReconciles: workers, SkipNameValidation: new(true),
		NewQueue: func(name string, _ workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
			l.queue = priorityqueue.New[ctrl.Request](name)
			return l.queue
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	started := make(chan struct{})
	err = c.Watch(source.Func(func(context.Context, workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		close(started)
		return nil
	}))
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = c.Start(ctx) })
	b.Cleanup(func() { cancel(); wg.Wait() })
	<-started
	return l
}

// process has the controller reconcile n requests, and returns how long that took.
func (l *loaded) process(requests []ctrl.Request) time.Duration {
	l.want.Store(l.done.Load() + int64(len(requests)))
	began := time.Now()
	l.queue.AddWithOpts(priorityqueue.AddOpts{}, requests...)
	<-l.all
	return time.Since(began)
}

func newRequests(n int) []ctrl.Request {
	requests := make([]ctrl.Request, n)
	for i := range requests {
		requests[i].NamespacedName = types.NamespacedName{Namespace: "default", Name: "object-" + strconv.Itoa(i)}
	}
	return requests
}

// BenchmarkController measures a controller whose reconciles do nothing, at full load,
// with deadlines and without: in turn, so that both meet the same machine, and reports
// the ratio of their throughputs.
func BenchmarkController(b *testing.B) {
	const batch = 2000
	requests := newRequests(batch)
	for _, workers := range []int{1, 10} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			without, with := newLoaded(b, workers, false), newLoaded(b, workers, true)
			var ratios []float64
			var took [2]time.Duration
			for i := 0; b.Loop(); i++ {
				var a, c time.Duration
				if i%2 == 0 {
					a = without.process(slices.Clone(requests))
					c = with.process(slices.Clone(requests))
				} else {
					c = with.process(slices.Clone(requests))
					a = without.process(slices.Clone(requests))
				}
				took[0], took[1] = took[0]+a, took[1]+c
				ratios = append(ratios, float64(a)/float64(c))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "with/without")
			b.ReportMetric(float64(took[0].Nanoseconds())/float64(batch*len(ratios)), "ns/without")
			b.ReportMetric(float64(took[1].Nanoseconds())/float64(batch*len(ratios)), "ns/with")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkControllerPaced measures the same at 10,000 requests a second, in batches of
// 1,000: whether both keep up, and how long a batch takes in each.
func BenchmarkControllerPaced(b *testing.B) {
	const batch, every = 1000, 100 * time.Millisecond
	requests := newRequests(batch)
	names := [...]string{"without", "with"}
	controllers := [...]*loaded{newLoaded(b, 1, false), newLoaded(b, 1, true)}
	var busy, took [2]time.Duration
	n := 0
	for b.Loop() {
		for i, l := range controllers {
			ticker := time.NewTicker(every)
			began := time.Now()
			for range 10 {
				busy[i] += l.process(slices.Clone(requests))
				<-ticker.C
			}
			took[i] += time.Since(began)
			ticker.Stop()
		}
		n += 10 * batch
	}
	rate := func(i int) float64 { return float64(n) / took[i].Seconds() }
	for i, name := range names {
		b.ReportMetric(rate(i), "requests/s/"+name)
		b.ReportMetric(float64(busy[i].Nanoseconds())/float64(n), "ns/"+name)
	}
	b.ReportMetric(rate(1)/rate(0), "with/without")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkDeadline(b *testing.B) {
	nop := ctrlreconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil })
	d, err := WithDeadline(nop, DeadlineOptions{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	req := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "object"}}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = d.Reconcile(ctx, req)
	}
}
