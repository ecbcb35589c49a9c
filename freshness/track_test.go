// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// An informer that was made without the wrapped ListerWatcher cannot be proven, and
// would look stalled for ever: that is said.
func TestTrackOfAnInformerWithAnotherListerWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		lw := f.listerWatcher()
		if err := f.monitor.Track(f.stock, f.monitor.WrapListerWatcher(lw), freshness.Informer{Resource: "gadgets"}); err != nil {
			t.Fatal(err)
		}
		f.fill()
		f.start()
		f.sleepUntil(time.Minute, "told", func() bool {
			st, _ := f.monitor.StatusOf(freshness.Informer{Resource: "gadgets"})
			return st.Verdict == freshness.Blind && strings.Contains(st.Reason, "WrapListerWatcher")
		})
		time.Sleep(time.Hour)
		if st, _ := f.monitor.StatusOf(freshness.Informer{Resource: "gadgets"}); st.Cures[freshness.Relist]+st.Cures[freshness.List] > 0 {
			t.Errorf("cures %v", st.Cures)
		}
		if err := f.monitor.Check(nil); err != nil {
			t.Error(err)
		}
	})
}

// controllerAndStore is what cache.NewInformerWithOptions returns.
type controllerAndStore struct {
	cache.Controller
	store   cache.Store
	stopped *bool
}

func (c controllerAndStore) GetStore() cache.Store { return c.store }
func (c controllerAndStore) IsStopped() bool       { return *c.stopped }

func TestTrackOfAControllerAndItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		lw := f.monitor.WrapListerWatcher(f.listerWatcher())
		store, controller := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: lw, ObjectType: &unstructured.Unstructured{}, Handler: cache.ResourceEventHandlerFuncs{}})
		stopped := false
		if err := f.monitor.Track(controllerAndStore{controller, store, &stopped}, lw, freshness.Informer{Resource: "gadgets"}); err != nil {
			t.Fatal(err)
		}
		f.fill()
		f.start()
		f.busyElsewhere()
		f.wg.Go(func() { controller.RunWithContext(f.ctx) })
		time.Sleep(3 * time.Minute)
		f.srv.Stall(widgets)
		if err := f.srv.Update(widget("a", "blue")); err != nil {
			t.Fatal(err)
		}
		f.sleepUntil(80*time.Second, "healed", func() bool {
			obj, ok, _ := store.GetByKey("default/a")
			color, _, _ := unstructured.NestedString(obj.(*unstructured.Unstructured).Object, "spec", "color")
			return ok && color == "blue"
		})
	})
}

// What is told of a kind is what is worst about it, whichever of its informers has
// the oldest proof.
func TestStatusOfIsTheWorst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{DisabledCures: []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List}})
		f.fill()
		f.warm()
		f.srv.Stall(widgets)
		_ = f.srv.Update(widget("a", "blue"))
		f.sleepUntil(10*time.Minute, "stalled", f.is(freshness.Stalled))
		f.monitor.NewInformer(f.listerWatcher(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}, 0, cache.Indexers{})
		st, _ := f.monitor.StatusOf(freshness.Informer{Group: widgets.Group, Resource: widgets.Resource})
		if st.Verdict != freshness.Stalled || !st.FreshAsOf.IsZero() || !strings.Contains(st.Reason, "stream is dead") {
			t.Errorf("got %v, fresh as of %v: %s", st.Verdict, st.FreshAsOf, st.Reason)
		}
	})
}
