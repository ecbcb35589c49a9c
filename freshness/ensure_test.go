// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

var widgetKind = freshness.Informer{Group: "example.com", Resource: "widgets"}

// ready starts everything and waits for the first proof.
func (f *fixture) ready() {
	f.t.Helper()
	if err := f.srv.Create(widget("a", "red")); err != nil {
		f.t.Fatal(err)
	}
	f.start()
	f.sleepUntil(2*time.Minute, "proven", f.is(freshness.Fresh))
}

func TestEnsureFreshQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.ready()
		time.Sleep(20 * time.Second)
		f.srv.Bump(3) // elsewhere

		lists, watches := f.srv.Requests(widgets, "list"), f.srv.Requests(widgets, "watch")
		begin := time.Now()
		if err := f.monitor.EnsureFresh(f.ctx, widgetKind, time.Minute+15*time.Second); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("took %v though the newest proof is young enough, want no time", took)
		}

		// Ten at once share the work.
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if err := f.monitor.EnsureFresh(f.ctx, widgetKind, 0); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begin); took < time.Second || took > 8*time.Second {
			t.Errorf("a proof of a quiet informer took %v, want some 5 s", took)
		}
		if asOf := f.status().FreshAsOf; asOf.Before(begin) {
			t.Errorf("fresh as of %v, want not before the call at %v", asOf, begin)
		}
		if l, w := f.srv.Requests(widgets, "list")-lists, f.srv.Requests(widgets, "watch")-watches; l > 4 || w > 2 {
			t.Errorf("%d lists and %d watches, want few", l, w)
		}
		time.Sleep(5 * time.Minute)
		for _, v := range f.verdicts() {
			if v != freshness.Fresh && v != freshness.Syncing {
				t.Errorf("verdict %v of a healthy informer; events:\n%s", v, f.log())
			}
		}
	})
}

func TestEnsureFreshBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.ready()
		n := 0
		f.every(300*time.Millisecond, func() {
			n++
			if err := f.srv.Update(widget("a", strings.Repeat("x", n%7+1))); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(20 * time.Second)
		watches := f.srv.Requests(widgets, "watch")
		begin := time.Now()
		if err := f.monitor.EnsureFresh(f.ctx, widgetKind, 0); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("took %v, want no longer than events and two looks", took)
		}
		if got := f.srv.Requests(widgets, "watch") - watches; got != 0 {
			t.Errorf("%d watches renewed, want none: its events prove it", got)
		}
	})
}

func TestEnsureFreshHealsAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.ready()
		f.srv.Stall(widgets)
		if err := f.srv.Update(widget("a", "blue")); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := f.monitor.EnsureFresh(f.ctx, widgetKind, 0); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > 8*time.Second {
			t.Errorf("took %v, want some 5 s", took)
		}
		if !f.sees(f.guarded, "a", "blue")() || f.sees(f.stock, "a", "blue")() {
			t.Error("want the guarded informer to have the change, and the one beside it not")
		}
	})
}

func TestEnsureFreshGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.ready()
		f.busyElsewhere()

		err := f.monitor.EnsureFresh(f.ctx, freshness.Informer{Resource: "gadgets"}, 0)
		if !errors.Is(err, freshness.ErrNotMonitored) || !strings.Contains(err.Error(), `"gadgets" (monitored: widgets.example.com/v1)`) {
			t.Errorf("error %v, want ErrNotMonitored with what is", err)
		}
		time.Sleep(2 * time.Minute)

		refused := f.srv.Respond(widgets, "list", 503, 0)
		time.Sleep(10 * time.Second)
		ctx, cancel := context.WithTimeout(f.ctx, 7*time.Second)
		defer cancel()
		err = f.monitor.EnsureFresh(ctx, widgetKind, 0)
		var late *freshness.NotFreshError
		if !errors.Is(err, freshness.ErrNotFresh) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &late) {
			t.Fatalf("error %v, want ErrNotFresh and the context's", err)
		}
		if late.Status.Informer.Resource != "widgets" || late.MaxAge != 0 {
			t.Errorf("error %+v", late)
		}
		refused.Lift()
		time.Sleep(time.Minute)

		f.srv.FreezeWatchCache(widgets)
		f.srv.Bump(1)
		begin := time.Now()
		err = f.monitor.EnsureFresh(f.ctx, widgetKind, 0)
		if !errors.As(err, &late) || late.Status.Verdict != freshness.ControlPlaneStalled || late.Cause != nil {
			t.Errorf("error %v, want ControlPlaneStalled without a cause", err)
		}
		if took := time.Since(begin); took > 45*time.Second {
			t.Errorf("took %v to say that nothing helps", took)
		}
	})
}

// A bound shorter than the bookmarks' period is kept on a quiet kind, and costs
// what is documented.
func TestShortBound(t *testing.T) {
	for _, tt := range []struct {
		bound    time.Duration
		requests int // per minute
	}{{30 * time.Second, 10}, {freshness.MinMaxStaleness, 28}} {
		t.Run(tt.bound.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, freshness.Options{MaxStaleness: tt.bound})
				f.ready()
				f.busyElsewhere()
				time.Sleep(time.Minute)
				before := len(f.srv.Log())
				var worst time.Duration
				for range 3600 {
					time.Sleep(time.Second)
					worst = max(worst, f.status().Staleness)
				}
				if worst > tt.bound {
					t.Errorf("the bound reached %v, want at most %v", worst, tt.bound)
				}
				for _, v := range f.verdicts() {
					if v != freshness.Fresh && v != freshness.Syncing {
						t.Fatalf("verdict %v of a healthy informer; events:\n%s", v, f.log())
					}
				}
				perMinute := (len(f.srv.Log()) - before) / 60
				t.Logf("%d requests a minute", perMinute)
				if perMinute > tt.requests {
					t.Errorf("%d requests a minute, documented are %d", perMinute, tt.requests)
				}
			})
		})
	}
}

func TestShortBoundFindsAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{MaxStaleness: freshness.MinMaxStaleness})
		f.ready()
		time.Sleep(time.Minute)
		f.srv.Stall(widgets)
		if err := f.srv.Update(widget("a", "blue")); err != nil {
			t.Fatal(err)
		}
		took := f.sleepUntil(time.Minute, "healed", f.sees(f.guarded, "a", "blue"))
		if took > freshness.MinMaxStaleness {
			t.Errorf("healed after %v, want %v", took, freshness.MinMaxStaleness)
		}
	})
}

// write is a write of the program's own.
func (f *fixture) write(color string) {
	f.t.Helper()
	obj := widget("a", color)
	if err := f.srv.Update(obj); err != nil {
		f.t.Fatal(err)
	}
	f.monitor.Wrote(widgetKind, "default/a", obj.GetResourceVersion())
}

func TestOwnWriteFindsAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.ready()
		time.Sleep(5 * time.Second) // right after a proof: 55 s to the next
		f.srv.Stall(widgets)
		lists := f.srv.Requests(widgets, "list")
		f.write("blue")
		took := f.sleepUntil(time.Minute, "healed", f.sees(f.guarded, "a", "blue"))
		if took > 10*time.Second {
			t.Errorf("healed after %v, want within 10 s", took)
		}
		if got := f.srv.Requests(widgets, "list") - lists; got > 2 {
			t.Errorf("%d lists until then, want one that asks where the server is, and the next proof's", got)
		}
		if f.sees(f.stock, "a", "blue")() {
			t.Error("the informer beside it saw it too: the fault is none")
		}
	})
}

// What is no reason to suspect anything.
func TestOwnWriteOfAHealthyInformer(t *testing.T) {
	selected := func(lw cache.ListerWatcherWithContext) cache.ListerWatcher {
		l := toListWatch(lw)
		inner := l.WatchFuncWithContext
		l.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = "metadata.name=b"
			return inner(ctx, o)
		}
		return l
	}
	tests := []struct {
		name   string
		client func(cache.ListerWatcherWithContext) cache.ListerWatcher
		write  func(f *fixture)
	}{
		{name: "seen", write: func(f *fixture) { f.write("blue") }},
		{name: "twice in a row", write: func(f *fixture) { f.write("blue"); f.write("green") }},
		{name: "nothing changed", write: func(f *fixture) { f.write("red") }},
		{name: "deleted right after", write: func(f *fixture) {
			f.write("blue")
			if err := f.srv.Delete(widget("a", "")); err != nil {
				f.t.Fatal(err)
			}
		}},
		{name: "not selected", client: selected, write: func(f *fixture) { f.write("blue") }},
		{name: "not a resourceVersion", write: func(f *fixture) { f.monitor.Wrote(widgetKind, "default/a", "banana") }},
		{name: "no such object", write: func(f *fixture) { f.monitor.Wrote(widgetKind, "default/z", "999999") }},
		{name: "another kind", write: func(f *fixture) {
			f.monitor.Wrote(freshness.Informer{Resource: "widgets"}, "default/a", "999999")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := tt.client
				if client == nil {
					client = func(lw cache.ListerWatcherWithContext) cache.ListerWatcher { return toListWatch(lw) }
				}
				f := newFixtureWith(t, freshness.Options{}, client)
				f.ready()
				time.Sleep(5 * time.Second)
				before := f.status()
				tt.write(f)
				time.Sleep(40 * time.Second)
				if st := f.status(); st.Doubts != before.Doubts || st.Verdict != freshness.Fresh {
					t.Errorf("%d doubts, verdict %v; want none and Fresh; events:\n%s", st.Doubts-before.Doubts, st.Verdict, f.log())
				}
			})
		})
	}
}
