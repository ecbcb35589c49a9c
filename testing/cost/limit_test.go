// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/freshwatch/freshwatch/freshness"
)

// TestRateLimitLeavesTheUserRoom has many informers, which all start at once, share a
// client's rate limit with the program's own requests. The API server is idle, so
// that whatever goes wrong is the proofs' doing.
func TestRateLimitLeavesTheUserRoom(t *testing.T) {
	const (
		informers = 500
		minutes   = 15
		most      = 5 * time.Second // that a request of the user's may wait
	)
	for _, l := range []limit{{20, 30}, {5, 10}} {
		t.Run(l.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := flowcontrol.NewTokenBucketRateLimiter(l.qps, l.burst)
				m, err := freshness.New(freshness.Options{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				defer wg.Wait()
				defer cancel()
				for range informers {
					inf := m.NewInformer(limitedLW(limiter), &unstructured.Unstructured{}, 0, cache.Indexers{})
					wg.Go(func() { inf.RunWithContext(ctx) })
				}
				wg.Go(func() {
					if err := m.Start(ctx); err != nil {
						t.Error(err)
					}
				})
				var longest time.Duration
				for begin := time.Now(); time.Since(begin) < minutes*time.Minute; {
					asked := time.Now()
					_ = limiter.Wait(ctx)
					longest = max(longest, time.Since(asked))
					if err := passes(ctx, time.Second); err != nil {
						t.Fatal(err)
					}
				}
				verdicts, bound := map[string]int{}, time.Duration(0)
				for _, st := range m.Status() {
					verdicts[st.Verdict.String()]++
					bound = max(bound, st.Staleness)
				}
				t.Logf("the user waited %v at most; largest bound %v, %v", longest, bound, verdicts)
				if longest > most {
					t.Errorf("a request of the user's waited %v for the rate limit, want at most %v", longest, most)
				}
				if verdicts["Fresh"] != informers {
					t.Errorf("verdicts %v, want all %d Fresh", verdicts, informers)
				}
			})
		})
	}
}

// limitedLW is an API server in which something is written every second. Its lists
// wait for the limiter, its watches do not, as client-go's.
func limitedLW(limiter flowcontrol.RateLimiter) cache.ListerWatcher {
	begin := time.Now()
	rv := func() string { return strconv.Itoa(1000 + int(time.Since(begin)/time.Second)) }
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			if err := limiter.Wait(ctx); err != nil {
				return nil, err
			}
			connect(ctx)
			list := &unstructured.UnstructuredList{}
			list.SetResourceVersion(rv())
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			connect(ctx)
			events := make(chan watch.Event)
			w := watch.NewProxyWatcher(events)
			go stream(ctx, w, events, o, rv)
			return w, nil
		},
	}
}

// connect tells what net/http tells of a request that is sent.
func connect(ctx context.Context) {
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.GetConn != nil {
		trace.GetConn("127.0.0.1:6443")
	}
	if trace != nil && trace.GotConn != nil {
		ours, _ := net.Pipe()
		trace.GotConn(httptrace.GotConnInfo{Conn: tls.Client(ours, &tls.Config{MinVersion: tls.VersionTLS13}), Reused: true})
	}
}

// stream sends what kube-apiserver sends on a watch where nothing happens.
func stream(ctx context.Context, w *watch.ProxyWatcher, events chan<- watch.Event, o metav1.ListOptions, rv func() string) {
	defer close(events)
	end := time.NewTimer(time.Duration(*o.TimeoutSeconds) * time.Second)
	defer end.Stop()
	preTimeout := time.NewTimer(time.Duration(*o.TimeoutSeconds-2) * time.Second)
	defer preTimeout.Stop()
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	send := func(initial bool) {
		obj := &unstructured.Unstructured{Object: map[string]any{"kind": "Limited", "apiVersion": "v1"}}
		obj.SetResourceVersion(rv())
		if initial {
			obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		}
		select {
		case events <- watch.Event{Type: watch.Bookmark, Object: obj}:
		case <-w.StopChan():
		case <-ctx.Done():
		}
	}
	if o.SendInitialEvents != nil {
		send(true)
	}
	for {
		select {
		case <-ticker.C:
			send(false)
		case <-preTimeout.C:
			send(false)
		case <-end.C:
			return
		case <-w.StopChan():
			return
		case <-ctx.Done():
			return
		}
	}
}
