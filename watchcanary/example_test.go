// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/watchcanary"
)

var (
	_ manager.Runnable               = (*watchcanary.Canary)(nil)
	_ manager.LeaderElectionRunnable = (*watchcanary.Canary)(nil)
	_ healthz.Checker                = (*watchcanary.Canary)(nil).Check
	_ watchcanary.Source             = manager.Manager(nil)
)

// With controller-runtime: the leader writes a Lease once a minute, and a pod that does
// not see its writes come back is restarted, at most three times if that does not help.
func addCanary(mgr ctrl.Manager, monitor *freshness.Monitor) error {
	canary, err := watchcanary.New(mgr, watchcanary.Options{Monitor: monitor, Logger: ctrl.Log.WithName("watchcanary")})
	if err != nil {
		return err
	}
	if err := mgr.Add(canary); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("watch-canary", canary.Check); err != nil { // liveness, never readiness
		return err
	}
	return metrics.Registry.Register(canary) // controller-runtime/pkg/metrics
}

// With client-go alone: a canary shares the client of the program's informers. lead is
// what leaderelection calls in OnStartedLeading.
func newCanary(cfg *rest.Config, client *http.Client, live *http.ServeMux) (lead func(context.Context), err error) {
	canary, err := watchcanary.New(watchcanary.Client{Config: cfg, HTTP: client}, watchcanary.Options{})
	if err != nil {
		return nil, err
	}
	live.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		if err := canary.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	return func(ctx context.Context) { _ = canary.Start(ctx) }, nil // it fails only where it runs already
}

var _, _ = addCanary, newCanary // have to compile

// The watch of a program falls silent. Nothing fails, and no event comes, until the
// canary's check asks for a restart.
func Example() {
	clock := clocktesting.NewFakeClock(time.Now())
	server, err := freshtest.NewServer(freshtest.Options{Clock: clock})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	cfg := server.Config()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		panic(err)
	}
	defer client.CloseIdleConnections()
	canary, err := watchcanary.New(watchcanary.Client{Config: cfg, HTTP: client}, watchcanary.Options{Namespace: "operators", Clock: clock})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- canary.Start(ctx) }()

	stepUntil := func(cond func() bool) {
		for !cond() {
			freshtest.Step(clock, 500*time.Millisecond)
		}
	}
	is := func(s watchcanary.State) func() bool { return func() bool { return canary.Status().State == s } }
	stepUntil(is(watchcanary.Fresh))
	fmt.Println("check:", canary.Check(nil))

	server.Stall(leases)
	stepUntil(is(watchcanary.Stalled))
	fmt.Println("stalled, check:", canary.Check(nil))
	stepUntil(func() bool { return canary.Check(nil) != nil })
	fmt.Println("later, a restart is asked for:", errors.Is(canary.Check(nil), watchcanary.ErrStalled))

	cancel()
	if err := <-done; err != nil {
		panic(err)
	}
	// Output:
	// check: <nil>
	// stalled, check: <nil>
	// later, a restart is asked for: true
}
