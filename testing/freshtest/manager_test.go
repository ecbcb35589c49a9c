// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// background runs something with a context until the end of the test, and reports its error.
func background(t *testing.T, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(ctx); err != nil {
			t.Errorf("stopped with %v", err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// TestControllerRuntimeCache reads one object of each representation through a cache, and sees it change.
func TestControllerRuntimeCache(t *testing.T) {
	anyWidget := &unstructured.Unstructured{}
	anyWidget.SetGroupVersionKind(widgetKind.GVK())
	widgetMetadata := &metav1.PartialObjectMetadata{}
	widgetMetadata.SetGroupVersionKind(widgetKind.GVK())
	for name, obj := range map[string]client.Object{
		"typed":        &corev1.ConfigMap{},
		"unstructured": anyWidget,
		"metadata":     widgetMetadata,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, freshtest.Options{})
				mustCreate(t, srv, configMap("a"), widget("a", 1))
				c, err := cache.New(srv.Config(), cache.Options{})
				if err != nil {
					t.Fatal(err)
				}
				background(t, c.Start)
				synctest.Wait()
				named := client.ObjectKey{Namespace: "default", Name: "a"}
				if err := c.Get(t.Context(), named, obj); err != nil {
					t.Fatal(err)
				}
				before := rv(t, obj)
				cm, w := configMap("a"), widget("a", 2)
				cm.Data = map[string]string{"size": "2"}
				for _, changed := range []client.Object{cm, w} {
					if err := srv.Update(changed); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if err := c.Get(t.Context(), named, obj); err != nil || rv(t, obj) <= before {
					t.Errorf("the cache is at %d, %v; want past %d", rv(t, obj), err, before)
				}
				// The server goes first: see Limits in the package's documentation.
				srv.Close()
				synctest.Wait()
			})
		})
	}
}

// sizeReporter reports the spec of a Widget in its status.
func sizeReporter(c client.Client) reconcile.Func {
	return func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		w := &unstructured.Unstructured{}
		w.SetGroupVersionKind(widgetKind.GVK())
		if err := c.Get(ctx, req.NamespacedName, w); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		size, _, err := unstructured.NestedInt64(w.Object, "spec", "size")
		if err != nil {
			return reconcile.Result{}, err
		}
		w.Object["status"] = map[string]any{"size": size, "observedGeneration": w.GetGeneration()}
		return reconcile.Result{}, c.Status().Update(ctx, w)
	}
}

// newManager returns a manager with leader election that reports the sizes of Widgets.
func newManager(t *testing.T, srv *freshtest.Server, identity string) manager.Manager {
	t.Helper()
	skip := true
	mgr, err := ctrl.NewManager(srv.Config(), ctrl.Options{
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "operator",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		Controller:                    config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(widgetKind.GVK())
	err = ctrl.NewControllerManagedBy(mgr).Named(identity).For(w).Complete(sizeReporter(mgr.GetClient()))
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// reported returns the size and generation in the status of a Widget, read from the server.
func reported(t *testing.T, mgr manager.Manager, name string) (size, generation int64) {
	t.Helper()
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(widgetKind.GVK())
	if err := mgr.GetAPIReader().Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, w); err != nil {
		t.Fatal(err)
	}
	size, _, _ = unstructured.NestedInt64(w.Object, "status", "size")
	generation, _, _ = unstructured.NestedInt64(w.Object, "status", "observedGeneration")
	return size, generation
}

// TestManager runs two managers: one leads and reconciles, the other takes over when the first stops.
func TestManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		mustCreate(t, srv, widget("a", 1))
		first, second := newManager(t, srv, "first"), newManager(t, srv, "second")
		stopFirst := background(t, first.Start)
		pass(time.Second)
		background(t, second.Start)
		pass(time.Minute)
		if size, generation := reported(t, second, "a"); size != 1 || generation != 1 {
			t.Errorf("size %d of generation %d reported, want 1 of 1", size, generation)
		}
		stopFirst()
		pass(time.Minute)
		if err := srv.Update(widget("a", 2)); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if size, generation := reported(t, second, "a"); size != 2 || generation != 2 {
			t.Errorf("after the change of leaders: size %d of generation %d reported, want 2 of 2", size, generation)
		}
		lease := &coordinationv1.Lease{}
		key := client.ObjectKey{Namespace: "default", Name: "operator"}
		if err := second.GetAPIReader().Get(t.Context(), key, lease); err != nil {
			t.Fatal(err)
		}
		if got := *lease.Spec.LeaseTransitions; got < 1 {
			t.Errorf("the lease has changed hands %d times", got)
		}
	})
}
