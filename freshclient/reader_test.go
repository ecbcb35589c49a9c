// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshclient_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metaunstructured "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/freshclient"
	"github.com/freshwatch/freshwatch/freshness"
)

type unstructured = metaunstructured.Unstructured

func (o *operator) reader(t *testing.T, opts freshclient.ReaderOptions) *freshclient.Reader {
	t.Helper()
	r, err := freshclient.NewReader(o.mgr.GetClient(), o.mgr.GetAPIReader(), o.monitor, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReader(t *testing.T) {
	gets := func(o *operator) int { return o.srv.Requests(configMaps, "get") }
	// stale makes the cache old, and its informer unable to do anything about it.
	stale := func(t *testing.T, o *operator) {
		t.Helper()
		o.srv.FreezeWatchCache(configMaps)
		if err := o.srv.Update(configMap("blue")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		if got := o.cached(t); got != "red" {
			t.Fatalf("the cache has %q, want it stale", got)
		}
	}
	t.Run("fresh, from the cache", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o := start(t)
			if got := o.color(t, o.reader(t, freshclient.ReaderOptions{})); got != "red" || gets(o) != 0 {
				t.Errorf("color %q with %d requests, want red with none", got, gets(o))
			}
		})
	})
	t.Run("stale, from the API server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o := start(t)
			stale(t, o)
			r := o.reader(t, freshclient.ReaderOptions{Wait: time.Second})
			if got := o.color(t, r); got != "blue" || gets(o) != 1 {
				t.Errorf("color %q with %d requests, want blue with one", got, gets(o))
			}
			var list corev1.ConfigMapList
			if err := r.List(t.Context(), &list, client.InNamespace(key.Namespace)); err != nil || len(list.Items) != 1 || list.Items[0].Data["color"] != "blue" {
				t.Errorf("list %+v, error %v; want blue", list.Items, err)
			}
		})
	})
	t.Run("not young enough, after a proof from the cache", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o := start(t)
			o.srv.Stall(configMaps)
			if err := o.srv.Update(configMap("blue")); err != nil {
				t.Fatal(err)
			}
			r := o.reader(t, freshclient.ReaderOptions{MaxAge: time.Millisecond, Wait: 10 * time.Second})
			if got := o.color(t, r); got != "blue" || gets(o) != 0 {
				t.Errorf("color %q with %d requests, want blue with none: the proof brought it", got, gets(o))
			}
		})
	})
	t.Run("no informer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o := start(t)
			var secret corev1.Secret
			if err := o.reader(t, freshclient.ReaderOptions{}).Get(t.Context(), key, &secret); client.IgnoreNotFound(err) != nil || err == nil {
				t.Errorf("error %v, want not found, from the API server", err)
			}
			if got := len(o.monitor.Status()); got != 1 {
				t.Errorf("%d informers, want no new one", got)
			}
		})
	})
	t.Run("stale and unreachable", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o := start(t)
			stale(t, o)
			o.srv.Respond(configMaps, "get", 503, 0)
			if got := o.color(t, o.reader(t, freshclient.ReaderOptions{})); got == "red" || got == "blue" {
				t.Errorf("color %q, want an error rather than an old answer", got)
			}
			if got := o.color(t, o.reader(t, freshclient.ReaderOptions{ServeStale: true})); got != "red" {
				t.Errorf("color %q with ServeStale, want red", got)
			}
		})
	})
	t.Run("not found is an answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o := start(t)
			stale(t, o)
			if err := o.srv.Delete(configMap("")); err != nil {
				t.Fatal(err)
			}
			if got := o.color(t, o.reader(t, freshclient.ReaderOptions{ServeStale: true})); got == "red" {
				t.Error("served from the cache what the API server says is gone")
			}
		})
	})
}

func TestEnsureFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := start(t)
		o.srv.Stall(configMaps)
		if err := o.srv.Update(configMap("blue")); err != nil {
			t.Fatal(err)
		}
		if err := freshclient.EnsureFresh(t.Context(), o.mgr.GetClient(), o.monitor, configMap(""), 0); err != nil {
			t.Fatal(err)
		}
		if got := o.cached(t); got != "blue" {
			t.Errorf("the cache has %q, want blue", got)
		}
		err := freshclient.EnsureFresh(t.Context(), o.mgr.GetClient(), o.monitor, &corev1.Secret{}, 0)
		if !errors.Is(err, freshness.ErrNotMonitored) {
			t.Errorf("error %v, want %v", err, freshness.ErrNotMonitored)
		}
	})
}

func TestReaderOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := start(t)
		for _, tt := range []struct {
			opts freshclient.ReaderOptions
			want string
		}{
			{freshclient.ReaderOptions{MaxAge: -1}, "freshclient: ReaderOptions.MaxAge is -1ns, but must not be negative"},
			{freshclient.ReaderOptions{Wait: -1}, "freshclient: ReaderOptions.Wait is -1ns, but must not be negative"},
		} {
			if _, err := freshclient.NewReader(o.mgr.GetClient(), o.mgr.GetAPIReader(), o.monitor, tt.opts); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		}
		if _, err := freshclient.NewReader(nil, nil, nil, freshclient.ReaderOptions{}); err == nil {
			t.Error("no error for nil")
		}
	})
}
