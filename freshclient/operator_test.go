// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshclient_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/freshwatch/freshwatch/freshclient"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	key        = client.ObjectKey{Namespace: "default", Name: "a"}
)

func configMap(color string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Data:       map[string]string{"color": color},
	}
}

// operator is a manager whose cache is monitored, in the test's bubble.
type operator struct {
	srv     *freshtest.Server
	mgr     ctrl.Manager
	monitor *freshness.Monitor
}

// start returns one that holds ConfigMap a, red, and is proven fresh.
func start(t *testing.T) *operator {
	t.Helper()
	o := &operator{srv: freshtest.Start(t, freshtest.Options{})}
	if err := o.srv.Create(configMap("red")); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.monitor, err = freshness.New(freshness.Options{}); err != nil {
		t.Fatal(err)
	}
	o.mgr, err = ctrl.NewManager(o.srv.Config(), ctrl.Options{
		Metrics:   metricsserver.Options{BindAddress: "0"},
		Cache:     cache.Options{NewInformer: o.monitor.NewInformer},
		NewClient: freshclient.NewClientFunc(o.monitor),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.mgr.Add(o.monitor); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := o.mgr.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	if _, err := o.mgr.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	freshtest.Eventually(t, func() bool { return o.cached(t) == "red" }, "not cached")
	time.Sleep(70 * time.Second) // a proof by bookmark, if there was something to prove
	synctest.Wait()
	return o
}

// cached is the color in the cache.
func (o *operator) cached(t *testing.T) string { t.Helper(); return o.color(t, o.mgr.GetCache()) }

func (o *operator) color(t *testing.T, from client.Reader) string {
	t.Helper()
	var cm corev1.ConfigMap
	if err := from.Get(t.Context(), key, &cm); err != nil {
		return err.Error()
	}
	return cm.Data["color"]
}
