// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// A controller that deletes volumes which no Pod uses must not rest on an old list
// of Pods, and not begin with one either.
func addVolumeCleaner(mgr ctrl.Manager, monitor *freshness.Monitor, cleaner ctrlreconcile.Reconciler) error {
	kinds, err := reconcile.Kinds(mgr.GetClient(), &corev1.Pod{}, &corev1.PersistentVolumeClaim{})
	if err != nil {
		return err
	}
	gate, err := reconcile.WithGate(cleaner, monitor, kinds, reconcile.GateOptions{Name: "volume-cleaner", AtStart: true})
	if err != nil {
		return err
	}
	if err := metrics.Registry.Register(gate); err != nil { // controller-runtime/pkg/metrics
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("volume-cleaner").
		For(&corev1.PersistentVolumeClaim{}).
		Owns(&corev1.Pod{}).
		Complete(gate)
}

var _ = addVolumeCleaner // has to compile

// One set of deadlines for all controllers of a manager: a reconcile that hangs is
// reported, and after a while the pod is restarted, at most three times a day. This is
// freshwatch's reconcile, not controller-runtime's.
func newDeadlines(mgr ctrl.Manager) (*reconcile.Deadlines, error) {
	deadlines, err := reconcile.NewDeadlines(mgr, reconcile.DeadlinesOptions{
		Controllers: map[string]reconcile.ControllerDeadline{"backups": {Timeout: 2 * time.Hour}},
	})
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(deadlines); err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("reconcile", deadlines.Check); err != nil { // liveness, never readiness
		return nil, err
	}
	return deadlines, metrics.Registry.Register(deadlines) // controller-runtime/pkg/metrics
}

// Complete takes the place of the builder's, and of Named.
func addControllers(mgr ctrl.Manager, deadlines *reconcile.Deadlines, pods ctrlreconcile.Reconciler, backups ctrlreconcile.TypedReconciler[Backup]) error {
	return errors.Join(
		reconcile.Complete(deadlines, "pods", ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}), pods),
		reconcile.Complete(deadlines, "backups", builder.TypedControllerManagedBy[Backup](mgr).WatchesRawSource(everyNight), backups),
	)
}

// Backup is a request of a controller's own type.
type Backup struct{ Bucket, Name string }

// String is what messages call it by.
func (b Backup) String() string { return b.Bucket + "/" + b.Name }

var everyNight source.TypedSource[Backup]

var _, _ = newDeadlines, addControllers // have to compile

// A reconcile that takes too long: its context ends, with the reason, and its request
// goes back to the queue, though it claims to be done.
func ExampleWithDeadline() {
	clock := clocktesting.NewFakeClock(time.Now())
	started := make(chan struct{})
	slow := ctrlreconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		close(started)
		<-ctx.Done()
		fmt.Println(context.Cause(ctx))
		return ctrl.Result{}, nil
	})
	limited, err := reconcile.WithDeadline(slow, reconcile.DeadlineOptions{Name: "pods", Timeout: time.Minute, Clock: clock})
	if err != nil {
		panic(err)
	}
	go func() {
		<-started
		clock.Step(time.Minute)
	}()
	req := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "a"}}
	_, err = limited.Reconcile(context.Background(), req)
	fmt.Println("retried:", errors.Is(err, reconcile.ErrDeadline))

	// Output:
	// reconcile: pods: default/a is not done within 1m0s
	// retried: true
}

// A reconcile that ignores its context is told by Check, with an error of its own. Where a
// test runs in a bubble of testing/synctest, which an example cannot, it needs neither a
// fake clock nor steps.
func ExampleDeadline_Check() {
	clock := clocktesting.NewFakeClock(time.Now())
	started, lock := make(chan struct{}), make(chan struct{})
	deaf := ctrlreconcile.TypedFunc[string](func(context.Context, string) (ctrl.Result, error) {
		close(started)
		<-lock // whatever the context says
		return ctrl.Result{}, nil
	})
	limited, err := reconcile.WithDeadline(deaf, reconcile.DeadlineOptions{
		Name: "locks", Grace: 5 * time.Second, FailAfter: 5 * time.Second, Logger: logr.Discard(), Clock: clock,
	})
	if err != nil {
		panic(err)
	}
	go func() { _, _ = limited.Reconcile(context.Background(), "a") }()
	<-started
	fmt.Println("check:", limited.Check(nil))
	freshtest.Step(clock, reconcile.DefaultTimeout)
	for limited.Check(nil) == nil {
		freshtest.Step(clock, time.Second)
	}
	fmt.Println("check:", limited.Check(nil))
	close(lock)

	// Output:
	// check: <nil>
	// check: reconcile: wedged: 1 in locks
}

// A watch falls silent, and until it is back the reconciler is not called.
func ExampleWithGate() {
	clock := clocktesting.NewFakeClock(time.Now())
	server, err := freshtest.NewServer(freshtest.Options{Clock: clock})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	monitor, err := freshness.New(freshness.Options{
		Clock: clock,
		// So that the stall lasts; a cure would end it within seconds.
		DisabledCures: []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List, freshness.Reconnect},
	})
	if err != nil {
		panic(err)
	}
	client := kubernetes.NewForConfigOrDie(server.Config())
	lw := toolscache.ToListWatcherWithWatchListSemantics(
		toolscache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", "", fields.Everything()), client)
	informer := monitor.NewInformer(lw, &corev1.ConfigMap{}, 0, toolscache.Indexers{})

	reconciler := ctrlreconcile.Func(func(_ context.Context, req ctrl.Request) (ctrl.Result, error) {
		fmt.Println("reconciling")
		return ctrl.Result{}, nil
	})
	kinds := []freshness.Informer{{Resource: "configmaps"}}
	gate, err := reconcile.WithGate(reconciler, monitor, kinds, reconcile.GateOptions{Clock: clock})
	if err != nil {
		panic(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go informer.RunWithContext(ctx)
	go func() { _ = monitor.Start(ctx) }()

	step := func() {
		server.Bump(1) // somebody else writes something
		freshtest.Step(clock, 500*time.Millisecond)
	}
	stepUntil := func(want freshness.Verdict) {
		for st, _ := monitor.StatusOf(kinds[0]); st.Verdict != want; st, _ = monitor.StatusOf(kinds[0]) {
			step()
		}
	}
	tryIt := func() {
		result, err := gate.Reconcile(ctx, ctrl.Request{})
		fmt.Println("requeued:", result.RequeueAfter > 0, "error:", err)
	}

	stepUntil(freshness.Fresh)
	tryIt()
	for range 130 { // a minute, in which a bookmark is seen to come
		step()
	}
	stall := server.Stall(corev1.SchemeGroupVersion.WithResource("configmaps"))
	stepUntil(freshness.Stalled)
	tryIt()
	stall.Lift()
	stepUntil(freshness.Fresh)
	tryIt()

	// Output:
	// reconciling
	// requeued: false error: <nil>
	// requeued: true error: <nil>
	// reconciling
	// requeued: false error: <nil>
}
