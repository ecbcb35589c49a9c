// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/transport"
)

// With controller-runtime: every connection of the manager's clients and every
// informer of its cache is guarded, whoever asks for it.
func newManager(cfg *rest.Config) (ctrl.Manager, error) {
	guard, err := transport.Wrap(cfg, transport.Options{Logger: ctrl.Log.WithName("transport")}) // before anything is made from cfg
	if err != nil {
		return nil, err
	}
	monitor, err := freshness.New(freshness.Options{Connections: guard, Logger: ctrl.Log.WithName("freshness")})
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		HealthProbeBindAddress: ":8081",
		Cache:                  cache.Options{NewInformer: monitor.NewInformer}, // controller-runtime/pkg/cache
	})
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(monitor); err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("freshness", monitor.Check); err != nil { // liveness, never readiness
		return nil, err
	}
	return mgr, errors.Join(metrics.Registry.Register(guard), metrics.Registry.Register(monitor)) // controller-runtime/pkg/metrics
}

// With client-go alone: NewInformer takes the place of
// cache.NewSharedIndexInformer.
func runInformer(ctx context.Context, client kubernetes.Interface) error {
	monitor, err := freshness.New(freshness.Options{})
	if err != nil {
		return err
	}
	configMaps := toolscache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", "default", fields.Everything())
	informer := monitor.NewInformer(configMaps, &corev1.ConfigMap{}, 0, toolscache.Indexers{}) // client-go/tools/cache

	http.HandleFunc("/livez", func(w http.ResponseWriter, r *http.Request) {
		if err := monitor.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	prometheus.MustRegister(monitor)

	go informer.RunWithContext(ctx)
	return monitor.Start(ctx) // until ctx ends
}

// The README shows these two; here they have to compile.
var (
	_ = newManager
	_ = runInformer
)

// An operator's unit test, without a cluster: a watch falls silent, the clock
// is stepped, and the informer is found stalled and healed.
func ExampleMonitor() {
	clock := clocktesting.NewFakeClock(time.Now())
	server, err := freshtest.NewServer(freshtest.Options{Clock: clock})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	var verdict atomic.Int64
	monitor, err := freshness.New(freshness.Options{Clock: clock, Observer: func(e freshness.Event) {
		switch e.Type {
		case freshness.VerdictChanged:
			fmt.Println("verdict:", e.Verdict)
			verdict.Store(int64(e.Verdict))
		case freshness.CureStarted:
			fmt.Println("cure:", e.Cure)
		default:
		}
	}})
	if err != nil {
		panic(err)
	}
	client := kubernetes.NewForConfigOrDie(server.Config())
	lw := toolscache.ToListWatcherWithWatchListSemantics(
		toolscache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", "", fields.Everything()), client)
	informer := monitor.NewInformer(lw, &corev1.ConfigMap{}, 0, toolscache.Indexers{})

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go informer.RunWithContext(ctx)
	go func() { _ = monitor.Start(ctx) }()

	step := func() {
		server.Bump(1) // somebody else writes something
		freshtest.Step(clock, 500*time.Millisecond)
	}
	stepUntil := func(want freshness.Verdict) {
		for freshness.Verdict(verdict.Load()) != want {
			step()
		}
	}
	stepUntil(freshness.Fresh)
	for range 130 { // a minute, in which a bookmark is seen to come
		step()
	}
	server.Stall(corev1.SchemeGroupVersion.WithResource("configmaps"))
	stepUntil(freshness.Stalled)
	stepUntil(freshness.Fresh)

	// Output:
	// verdict: Fresh
	// verdict: Suspect
	// verdict: Stalled
	// cure: resume
	// verdict: Fresh
}
