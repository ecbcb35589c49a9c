// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/internal/streamctx"
)

// Why a watch is ended through its context, as if by a deadline: 30 times that
// way the reflector resumes. Stopped directly over HTTP/2, it relists about every
// other time, since the decoder's error races with the end.
func TestWhatEndsAWatchDecidesOnARelist(t *testing.T) {
	const times = 30
	relists := func(t *testing.T, end func(watch.Interface, *streamctx.Context)) int {
		t.Helper()
		var n int
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, freshness.Options{})
			var mu sync.Mutex
			var current watch.Interface
			var currentCtx *streamctx.Context
			inner := cache.ToListerWatcherWithContext(f.listerWatcher())
			lw := &cache.ListWatch{
				ListWithContextFunc: inner.ListWithContext,
				WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
					sctx := streamctx.New(ctx)
					w, err := inner.WatchWithContext(sctx, o) //nolint:contextcheck // sctx is made from ctx
					mu.Lock()
					defer mu.Unlock()
					current, currentCtx = w, sctx
					if o.SendInitialEvents != nil {
						n++
					}
					return w, err
				},
			}
			inf := cache.NewSharedIndexInformer(lw, &unstructured.Unstructured{}, 0, cache.Indexers{})
			f.wg.Go(func() { inf.RunWithContext(f.ctx) })
			for range times {
				time.Sleep(time.Minute) // longer than the back-off of a relist
				mu.Lock()
				end(current, currentCtx)
				mu.Unlock()
			}
			time.Sleep(time.Minute)
		})
		return n - 1 // the first is the initial list
	}
	if got := relists(t, func(_ watch.Interface, ctx *streamctx.Context) { ctx.Expire() }); got != 0 {
		t.Errorf("%d of %d watches that expired were followed by a relist, want none", got, times)
	}
	if got := relists(t, func(w watch.Interface, _ *streamctx.Context) { w.Stop() }); got == 0 {
		t.Errorf("no stopped watch of %d was followed by a relist: the detour through the context is not needed any more", times)
	} else {
		t.Logf("stopped directly: %d of %d relisted", got, times)
	}
}
