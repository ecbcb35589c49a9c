// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// One http.Client, made by a manager of a wrapped config, carries the manager's cache and clients of every sort over
// one connection: at the start, and after its watches have been renewed many times.
func TestOneConnectionForAll(t *testing.T) {
	parityInBubble(t, func(t *testing.T, f flavour) {
		srv := freshtest.Start(t, freshtest.Options{})
		cfg := srv.Config()
		f.apply(t, cfg)
		mgr, err := ctrl.NewManager(cfg, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- mgr.Start(ctx) }()
		defer func() {
			srv.Close() // before the informers stop: see the package's limits
			synctest.Wait()
			cancel()
			if err := <-stopped; err != nil {
				t.Errorf("the manager stopped with %v", err)
			}
		}()
		for _, obj := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
			if _, err := mgr.GetCache().GetInformer(ctx, obj); err != nil {
				t.Fatal(err)
			}
		}
		httpClient := mgr.GetHTTPClient()
		typed, err := kubernetes.NewForConfigAndClient(cfg, httpClient)
		if err != nil {
			t.Fatal(err)
		}
		untyped, err := dynamic.NewForConfigAndClient(cfg, httpClient)
		if err != nil {
			t.Fatal(err)
		}
		partial, err := metadata.NewForConfigAndClient(cfg, httpClient)
		if err != nil {
			t.Fatal(err)
		}
		use := func() {
			if _, err := typed.CoreV1().Pods("").List(ctx, metav1.ListOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := untyped.Resource(configMapsResource).List(ctx, metav1.ListOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := partial.Resource(configMapsResource).List(ctx, metav1.ListOptions{}); err != nil {
				t.Error(err)
			}
		}
		for range 30 {
			use()
			pass(time.Minute)
		}
		if err := srv.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.ConfigMap{}); err != nil {
			t.Errorf("the manager's cache: %v", err)
		}
		if got := srv.Connections(); got != 1 {
			t.Errorf("%d connections, want 1", got)
		}
	})
}
