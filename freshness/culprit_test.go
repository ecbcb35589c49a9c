// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// picky is a client that cannot decode the widget "bad", as a typed one cannot
// where a field has another type.
func picky(lw cache.ListerWatcherWithContext) cache.ListerWatcher {
	wrong := errors.New("json: cannot unmarshal string into Go struct field WidgetSpec.size of type int")
	isBad := func(w unstructured.Unstructured) bool { return w.GetName() == "bad" }
	client := toListWatch(lw)
	client.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		list, err := lw.ListWithContext(ctx, o)
		if err == nil && slices.ContainsFunc(list.(*unstructured.UnstructuredList).Items, isBad) {
			return nil, wrong
		}
		return list, err
	}
	client.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		if o.SendInitialEvents != nil {
			return nil, wrong
		}
		return lw.WatchWithContext(ctx, o)
	}
	return client
}

// One object that cannot be decoded keeps a typed informer from ever syncing, and
// the error does not name it.
func TestObjectThatCannotBeDecodedIsNamed(t *testing.T) {
	tests := []struct {
		name     string
		metadata bool
		objects  int
		want     string
	}{
		{"by its metadata", true, 1200, "object default/bad does not fit"},
		{"by the one before it", false, 1200, "the object after default/a1199 does not fit"},
		{"the first", false, 0, "the first object does not fit"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			srv, opts := widgetServer(t), freshness.Options{}
			if tt.metadata {
				opts.Metadata = metadataClient(t, srv)
			}
			f := newFixtureOn(t, srv, opts, picky)
			for i := range tt.objects {
				if err := srv.Create(widget(fmt.Sprintf("a%04d", i), "red")); err != nil {
					t.Fatal(err)
				}
			}
			bad := widget("bad", "red")
			if err := srv.Create(bad); err != nil {
				t.Fatal(err)
			}
			f.start()
			f.sleepUntil(5*time.Minute, tt.want, func() bool { return strings.Contains(f.status().Reason, tt.want) })
			if err := f.monitor.Check(nil); err != nil || f.status().Verdict != freshness.Syncing {
				t.Errorf("%v, %v; want Syncing", f.status().Verdict, err)
			}
			if err := srv.Delete(bad); err != nil {
				t.Fatal(err)
			}
			f.sleepUntil(3*time.Minute, "fresh", f.is(freshness.Fresh))
		})
	}
}
