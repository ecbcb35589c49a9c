// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// warm runs the fixture until bookmarks have been seen to prove the informer.
func (f *fixture) warm() {
	f.t.Helper()
	f.start()
	f.busyElsewhere()
	f.sleepUntil(30*time.Second, "fresh", f.is(freshness.Fresh))
	time.Sleep(3 * time.Minute)
}

// harmless fails the test if the informer was called stalled, or anything was
// done about it that costs more than a renewed watch.
func (f *fixture) harmless() {
	f.t.Helper()
	for _, v := range f.verdicts() {
		if v == freshness.Stalled || v == freshness.ControlPlaneStalled {
			f.t.Errorf("verdict %v; events:\n%s", v, f.log())
			return
		}
	}
	if st := f.status(); st.Cures[freshness.Relist]+st.Cures[freshness.List] > 0 {
		f.t.Errorf("cures %v; events:\n%s", st.Cures, f.log())
	}
	if err := f.monitor.Check(nil); err != nil {
		f.t.Error(err)
	}
}

// While the API server takes no watches but answers lists, the informer is
// behind and no restart helps.
func TestRefusedWatchesAreNotAStall(t *testing.T) {
	for _, code := range []int{403, 429, 500, 503} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, freshness.Options{})
			f.warm()
			refused := f.srv.Respond(widgets, "watch", code, 0)
			f.srv.EndWatches(widgets)
			for range 15 * 60 {
				time.Sleep(time.Second)
				if err := f.monitor.Check(nil); err != nil {
					t.Fatalf("watches answered with %d: %v", code, err)
				}
			}
			f.harmless()
			refused.Lift()
			f.sleepUntil(3*time.Minute, "fresh", f.is(freshness.Fresh))
		})
	}
}

func TestSlowWatchHeadersAreNotAStall(t *testing.T) {
	for _, delay := range []time.Duration{time.Second, 3 * time.Second, 6 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixtureWith(t, freshness.Options{}, func(lw cache.ListerWatcherWithContext) cache.ListerWatcher {
				slow := toListWatch(lw)
				slow.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
					select {
					case <-time.After(delay):
					case <-ctx.Done():
					}
					return lw.WatchWithContext(ctx, o)
				}
				return slow
			})
			f.warm()
			time.Sleep(6 * time.Hour)
			f.harmless()
		})
	}
}

// A relist that ends where it began leaves the resourceVersion where it was.
func TestStallAfterARelistThatMovedNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.srv.Create(widget("a", "red"))
		f.warm()
		time.Sleep(10 * time.Second)
		f.srv.Respond(widgets, "watch", 500, 1)
		f.srv.EndWatches(widgets)
		time.Sleep(10 * time.Second)
		f.srv.Stall(widgets)
		f.srv.Update(widget("a", "blue"))
		f.sleepUntil(85*time.Second, "healed", f.sees(f.guarded, "a", "blue"))
	})
}

// A List that never returns costs its own read, and neither the next ones nor
// the end of the monitor.
func TestListThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hang atomic.Bool
		release := make(chan struct{})
		defer close(release)
		f := newFixtureWith(t, freshness.Options{ConcurrentReads: 1}, func(lw cache.ListerWatcherWithContext) cache.ListerWatcher {
			hanging := toListWatch(lw)
			hanging.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				if hang.CompareAndSwap(true, false) {
					<-release
				}
				return lw.ListWithContext(ctx, o)
			}
			return hanging
		})
		f.srv.Create(widget("a", "red"))
		f.warm()
		hang.Store(true)
		time.Sleep(2 * time.Minute)
		f.srv.Stall(widgets)
		f.srv.Update(widget("a", "blue"))
		f.sleepUntil(85*time.Second, "healed", f.sees(f.guarded, "a", "blue"))
	})
}

// namelessConn is a connection through a tunnel that has no addresses.
type namelessConn struct{ net.Conn }

func (namelessConn) LocalAddr() net.Addr  { return nil }
func (namelessConn) RemoteAddr() net.Addr { return nil }

func TestConnectionsWithoutAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		cfg := f.srv.Config()
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			return namelessConn{c}, err
		}
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		lw := f.monitor.WrapListerWatcher(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return client.Resource(widgets).List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return client.Resource(widgets).Watch(ctx, o)
			},
		})
		w, err := cache.ToListerWatcherWithContext(lw).WatchWithContext(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.Stop()
	})
}
