// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch_test

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// NewManager takes the place of ctrl.NewManager, and Complete that of the builder's Named
// and Complete. Every guard has a flag.
func newOperator(cfg *rest.Config, pods ctrlreconcile.Reconciler) (ctrl.Manager, error) {
	var guards freshwatch.Options
	guards.BindFlags(flag.CommandLine)
	flag.Parse()

	mgr, err := freshwatch.NewManager(cfg, ctrl.Options{
		HealthProbeBindAddress: ":8081",
		LeaderElection:         true, // with more than one replica
		LeaderElectionID:       "pods.example.com",
	}, guards)
	if err != nil {
		return nil, err
	}
	return mgr, freshwatch.Complete(mgr, "pods", ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}), pods)
}

// What is no flag is a field.
func guards() freshwatch.Options {
	return freshwatch.Options{
		Reconcile: reconcile.DeadlinesOptions{
			Controllers: map[string]reconcile.ControllerDeadline{"backups": {Timeout: 2 * time.Hour}},
		},
		Generations: []reconcile.GenerationKind{{Object: &corev1.Pod{}}}, // off without
		Disable:     freshwatch.Parts{Events: true},
	}
}

// A manager that is made elsewhere is guarded by three calls.
func addGuards(cfg *rest.Config, opts ctrl.Options, newManager func(*rest.Config, ctrl.Options) (ctrl.Manager, error)) (*freshwatch.Manager, error) {
	guard, err := freshwatch.New(guards())
	if err != nil {
		return nil, err
	}
	if err := guard.PrepareConfig(cfg); err != nil {
		return nil, err
	}
	if err := guard.PrepareManager(&opts); err != nil {
		return nil, err
	}
	mgr, err := newManager(cfg, opts)
	if err != nil {
		return nil, err
	}
	return &freshwatch.Manager{Manager: mgr, Guard: guard}, guard.AddTo(mgr)
}

// The README shows these; here they have to compile.
var (
	_ = newOperator
	_ = addGuards
)

// An operator with all guards, and an API server in this process.
func Example() {
	api, err := freshtest.NewServer(freshtest.Options{})
	if err != nil {
		panic(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	if err := api.Create(pod); err != nil {
		panic(err)
	}

	mgr, err := freshwatch.NewManager(api.Config(), ctrl.Options{
		Metrics:                 server.Options{BindAddress: "0"},
		LeaderElectionNamespace: "default", // of the canary's Lease, too: this is no pod
	}, freshwatch.Options{Registerer: prometheus.NewRegistry()})
	if err != nil {
		panic(err)
	}
	reconciled := make(chan string, 1)
	err = freshwatch.Complete(mgr, "pods", ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}), ctrlreconcile.Func(
		func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			_, limited := ctx.Deadline()
			reconciled <- fmt.Sprintf("%v, with a deadline: %v", req, limited)
			return ctrl.Result{}, mgr.GetClient().Get(ctx, req.NamespacedName, &corev1.Pod{})
		}))
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	fmt.Println(<-reconciled)
	fmt.Println(mgr.Guard.Monitor().EnsureFresh(ctx, freshness.Informer{Version: "v1", Resource: "pods"}, time.Minute))
	cancel()
	api.Close()
	if err := <-ended; err != nil {
		panic(err)
	}
	// Output:
	// default/a, with a deadline: true
	// <nil>
}
