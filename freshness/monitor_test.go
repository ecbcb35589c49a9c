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

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

func widget(name, color string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": "default", "name": name},
		"spec":     map[string]any{"color": color},
	}}
}

// fixture is an informer under guard, and one without beside it, at a server in
// this process. It lives in a synctest bubble: its time is the bubble's.
type fixture struct {
	t       *testing.T
	srv     *freshtest.Server
	monitor *freshness.Monitor
	guarded cache.SharedIndexInformer
	stock   cache.SharedIndexInformer

	ctx context.Context
	wg  sync.WaitGroup

	mu     sync.Mutex
	events []freshness.Event
}

func newFixture(t *testing.T, opts freshness.Options) *fixture {
	t.Helper()
	return newFixtureWith(t, opts, func(lw cache.ListerWatcherWithContext) cache.ListerWatcher { return toListWatch(lw) })
}

// toListWatch is the client's own ListerWatcher, whose parts a test may change.
func toListWatch(lw cache.ListerWatcherWithContext) *cache.ListWatch {
	return &cache.ListWatch{ListWithContextFunc: lw.ListWithContext, WatchFuncWithContext: lw.WatchWithContext}
}

// newFixtureWith is newFixture with a client of the test's making for the
// guarded informer.
func newFixtureWith(t *testing.T, opts freshness.Options, client func(cache.ListerWatcherWithContext) cache.ListerWatcher) *fixture {
	t.Helper()
	return newFixtureOn(t, widgetServer(t), opts, client)
}

func widgetServer(t *testing.T) *freshtest.Server {
	t.Helper()
	return freshtest.Start(t, freshtest.Options{Kinds: []freshtest.Kind{
		{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets", Namespaced: true},
	}})
}

func newFixtureOn(t *testing.T, srv *freshtest.Server, opts freshness.Options, client func(cache.ListerWatcherWithContext) cache.ListerWatcher) *fixture {
	t.Helper()
	f := &fixture{t: t, srv: srv}
	ctx, cancel := context.WithCancel(t.Context())
	f.ctx = ctx
	t.Cleanup(func() { cancel(); f.wg.Wait() })
	opts.Observer = func(e freshness.Event) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.events = append(f.events, e)
	}
	var err error
	if f.monitor, err = freshness.New(opts); err != nil {
		t.Fatal(err)
	}
	f.guarded = f.monitor.NewInformer(client(cache.ToListerWatcherWithContext(f.listerWatcher())), &unstructured.Unstructured{}, 0, cache.Indexers{})
	f.stock = cache.NewSharedIndexInformer(f.listerWatcher(), &unstructured.Unstructured{}, 0, cache.Indexers{})
	return f
}

func (f *fixture) listerWatcher() cache.ListerWatcher {
	client, err := dynamic.NewForConfig(f.srv.Config())
	if err != nil {
		f.t.Fatal(err)
	}
	r := client.Resource(widgets)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return r.Watch(ctx, o)
		},
	}
}

// start runs everything until the bubble's end.
func (f *fixture) start() {
	f.wg.Go(func() { f.guarded.RunWithContext(f.ctx) })
	f.wg.Go(func() { f.stock.RunWithContext(f.ctx) })
	f.wg.Go(func() {
		if err := f.monitor.Start(f.ctx); err != nil {
			f.t.Error(err)
		}
	})
}

// every calls do once per period until the bubble's end.
func (f *fixture) every(period time.Duration, do func()) {
	f.wg.Go(func() {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-f.ctx.Done():
				return
			case <-ticker.C:
				do()
			}
		}
	})
}

// busyElsewhere writes other kinds, as every cluster's leases do.
func (f *fixture) busyElsewhere() { f.every(7*time.Second, func() { f.srv.Bump(3) }) }

func (f *fixture) status() freshness.Status {
	f.t.Helper()
	all := f.monitor.Status()
	if len(all) != 1 {
		f.t.Fatalf("%d informers, want 1", len(all))
	}
	return all[0]
}

// sleepUntil lets the bubble's time run until cond holds, and returns how long
// that took.
func (f *fixture) sleepUntil(limit time.Duration, what string, cond func() bool) time.Duration {
	f.t.Helper()
	begin := time.Now()
	for !cond() {
		if time.Since(begin) > limit {
			f.t.Fatalf("not within %v: %s; status %+v, events:\n%s", limit, what, f.monitor.Status(), f.log())
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
	}
	return time.Since(begin)
}

func (f *fixture) sees(inf cache.SharedIndexInformer, name, color string) func() bool {
	return func() bool {
		obj, ok, _ := inf.GetStore().GetByKey("default/" + name)
		if !ok {
			return false
		}
		got, _, _ := unstructured.NestedString(obj.(*unstructured.Unstructured).Object, "spec", "color")
		return got == color
	}
}

func (f *fixture) is(v freshness.Verdict) func() bool {
	return func() bool { return f.status().Verdict == v }
}

func (f *fixture) log() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for _, e := range f.events {
		b.WriteString(e.Time.Format("15:04:05.000 ") + e.String() + "\n")
	}
	return b.String()
}

// verdicts returns every verdict that was reached, in order.
func (f *fixture) verdicts() []freshness.Verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []freshness.Verdict
	for _, e := range f.events {
		if e.Type == freshness.VerdictChanged {
			out = append(out, e.Verdict)
		}
	}
	return out
}

func TestSilentStreamIsFoundAndResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.srv.Create(widget("a", "red"))
		f.start()
		f.busyElsewhere()
		f.sleepUntil(5*time.Second, "fresh", f.is(freshness.Fresh))
		time.Sleep(3 * time.Minute) // proofs come and go

		f.srv.Stall(widgets)
		f.srv.Update(widget("a", "blue"))
		lists, watches := f.srv.Requests(widgets, "list"), f.srv.Requests(widgets, "watch")
		found := f.sleepUntil(64*time.Second, "stalled or healed", func() bool {
			return !f.is(freshness.Fresh)() || f.sees(f.guarded, "a", "blue")()
		})
		healed := found + f.sleepUntil(time.Second, "healed", f.sees(f.guarded, "a", "blue"))
		f.sleepUntil(7*time.Second, "fresh again", f.is(freshness.Fresh))
		t.Logf("found after %v, healed after %v, with %d lists and %d watches", found, healed,
			f.srv.Requests(widgets, "list")-lists, f.srv.Requests(widgets, "watch")-watches)

		st := f.status()
		if st.Cures[freshness.Resume] != 1 || st.ProvenCures[freshness.Resume] != 1 || st.Cures[freshness.Relist]+st.Cures[freshness.List] != 0 {
			t.Errorf("cures %v, proven %v; want one resume, proven", st.Cures, st.ProvenCures)
		}
		time.Sleep(10 * time.Minute)
		if f.sees(f.stock, "a", "blue")() {
			t.Error("the stock informer saw the edit: the fault is none")
		}
		if err := f.monitor.Check(nil); err != nil {
			t.Errorf("Check() = %v, want nil: it was healed", err)
		}
	})
}

func TestGuardOffStaysStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{DisabledCures: []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List}})
		f.start()
		f.busyElsewhere()
		f.sleepUntil(5*time.Second, "fresh", f.is(freshness.Fresh))
		time.Sleep(3 * time.Minute)
		f.srv.Stall(widgets)
		f.srv.Create(widget("a", "red"))
		f.sleepUntil(65*time.Second, "stalled", f.is(freshness.Stalled))
		time.Sleep(freshness.DefaultFailAfter - 2*time.Second)
		if err := f.monitor.Check(nil); err != nil {
			t.Errorf("Check() = %v before FailAfter, want nil", err)
		}
		time.Sleep(4 * time.Second)
		err := f.monitor.Check(nil)
		if !errors.Is(err, freshness.ErrStalled) || !strings.Contains(err.Error(), "widgets.example.com/v1: Stalled for 5m") {
			t.Errorf("Check() = %v after FailAfter, want ErrStalled that names the informer", err)
		}
		if f.sees(f.guarded, "a", "red")() {
			t.Error("healed without a cure")
		}
	})
}

func TestQuietInformerStaysFresh(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(f *fixture)
	}{
		{"nothing is written anywhere", func(*fixture) {}},
		{"other kinds are written", (*fixture).busyElsewhere},
		{"watches end every 20 s", func(f *fixture) {
			f.busyElsewhere()
			f.every(20*time.Second, func() { f.srv.EndWatches(widgets) })
		}},
		{"connections break now and then", func(f *fixture) {
			f.busyElsewhere()
			f.every(47*time.Second, f.srv.DropConnections)
		}},
		{"the server sends no bookmarks", func(f *fixture) {
			f.busyElsewhere()
			f.srv.WithholdBookmarks(widgets)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, freshness.Options{})
				f.start()
				tt.fault(f)
				f.sleepUntil(5*time.Second, "fresh", f.is(freshness.Fresh))
				var worst time.Duration
				for range 2 * 3600 {
					time.Sleep(500 * time.Millisecond)
					worst = max(worst, f.status().Staleness)
				}
				st := f.status()
				t.Logf("worst bound in an hour %v, %d reads, cures %v", worst, st.Reads, st.Cures)
				for _, v := range f.verdicts() {
					if v == freshness.Stalled || v == freshness.ControlPlaneStalled || v == freshness.Unreachable || v == freshness.Blind {
						t.Errorf("verdict %v on a healthy informer; events:\n%s", v, f.log())
						break
					}
				}
				if st.Cures[freshness.Relist]+st.Cures[freshness.List] > 0 {
					t.Errorf("relisted a healthy informer: %v", st.Cures)
				}
				if worst > freshness.DefaultMaxStaleness {
					t.Errorf("bound rose to %v; events:\n%s", worst, f.log())
				}
			})
		})
	}
}

func TestFrozenWatchCacheIsTheServersFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.srv.Create(widget("a", "red"))
		f.start()
		f.sleepUntil(5*time.Second, "fresh", f.is(freshness.Fresh))
		f.busyElsewhere()
		time.Sleep(3 * time.Minute)
		frozen := f.srv.FreezeWatchCache(widgets)
		f.srv.Update(widget("a", "blue"))
		f.sleepUntil(3*time.Minute, "control plane stalled", f.is(freshness.ControlPlaneStalled))
		time.Sleep(15 * time.Minute)
		if err := f.monitor.Check(nil); err != nil {
			t.Errorf("Check() = %v, want nil: a restart does not help", err)
		}
		st := f.status()
		if n := st.Cures[freshness.Resume] + st.Cures[freshness.Relist] + st.Cures[freshness.List]; n != 0 {
			t.Errorf("%d cures tried on the server's fault, want none", n)
		}
		frozen.Lift()
		f.sleepUntil(90*time.Second, "fresh after the thaw", f.is(freshness.Fresh))
		if !f.sees(f.guarded, "a", "blue")() {
			t.Error("fresh without the edit")
		}
	})
}

func TestInitialEventsThatNeverEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{SyncTimeout: time.Minute})
		f.srv.Create(widget("a", "red"))
		f.srv.WithholdInitialEventsEnd(widgets)
		f.start()
		f.sleepUntil(2*time.Minute, "synced by list", f.guarded.HasSynced)
		if f.stock.HasSynced() {
			t.Error("the stock informer synced: the fault is none")
		}
		if got := f.status().Cures[freshness.List]; got != 1 {
			t.Errorf("%d falls back to list, want 1", got)
		}
		f.sleepUntil(2*time.Minute, "fresh", f.is(freshness.Fresh))
	})
}

func TestResourceVersionGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.srv.Create(widget("a", "red"))
		f.start()
		f.sleepUntil(5*time.Second, "fresh", f.is(freshness.Fresh))
		backup := f.srv.Snapshot()
		f.srv.Update(widget("a", "blue"))
		f.srv.Bump(50)
		time.Sleep(3 * time.Minute)
		f.srv.Rewind(backup)
		f.sleepUntil(90*time.Second, "the old state is seen", f.sees(f.guarded, "a", "red"))
		f.sleepUntil(90*time.Second, "fresh", f.is(freshness.Fresh))
		if got := f.status().Cures[freshness.Relist]; got == 0 {
			t.Errorf("no relist; events:\n%s", f.log())
		}
		f.srv.Update(widget("a", "green"))
		f.sleepUntil(5*time.Second, "edits after the restore", f.sees(f.guarded, "a", "green"))
	})
}

func TestForbiddenIsBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.start()
		f.sleepUntil(5*time.Second, "fresh", f.is(freshness.Fresh))
		denied := f.srv.Deny(widgets, "list")
		f.sleepUntil(3*time.Minute, "blind", f.is(freshness.Blind))
		if err := f.monitor.Check(nil); err != nil {
			t.Errorf("Check() = %v, want nil", err)
		}
		denied.Lift()
		f.sleepUntil(90*time.Second, "fresh", f.is(freshness.Fresh))
	})
}

func TestUnreachableIsNotStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.start()
		f.sleepUntil(5*time.Second, "fresh", f.is(freshness.Fresh))
		hole, refusal := f.srv.BlackHole(), f.srv.Refuse()
		f.sleepUntil(3*time.Minute, "unreachable", f.is(freshness.Unreachable))
		time.Sleep(15 * time.Minute)
		if err := f.monitor.Check(nil); err != nil {
			t.Errorf("Check() = %v, want nil", err)
		}
		hole.Lift()
		refusal.Lift()
		f.sleepUntil(3*time.Minute, "fresh", f.is(freshness.Fresh))
	})
}

func TestUnwiredMonitorSaysSo(t *testing.T) {
	for _, wired := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var said []string
			m, err := freshness.New(freshness.Options{Logger: funcr.New(func(_, line string) { said = append(said, line) }, funcr.Options{})})
			if err != nil {
				t.Fatal(err)
			}
			if wired {
				m.NewInformer(&cache.ListWatch{}, &unstructured.Unstructured{}, 0, cache.Indexers{})
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if err := m.Start(ctx); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(strings.Join(said, "\n"), "NewInformer"); (got == 1) == wired {
				t.Errorf("wired %v: said %d times that no informer is monitored; log:\n%s", wired, got, said)
			}
			if err := m.Start(t.Context()); err == nil {
				t.Error("a second Start succeeded")
			}
		})
	}
}

func TestStoppedInformerIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		extra := f.monitor.NewInformer(f.listerWatcher(), &unstructured.Unstructured{}, 0, cache.Indexers{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { extra.RunWithContext(ctx) })
		f.start()
		f.sleepUntil(5*time.Second, "two informers", func() bool { return len(f.monitor.Status()) == 2 })
		cancel()
		wg.Wait()
		f.sleepUntil(time.Second, "one informer", func() bool { return len(f.monitor.Status()) == 1 })
	})
}
