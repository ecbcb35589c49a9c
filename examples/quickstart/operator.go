// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

// The names of the two operators.
const (
	stock   = "stock"
	guarded = "guarded"
)

// newOperator makes an ordinary operator that looks after ConfigMaps and Widgets
// and tells saw which color it found in its cache. It is guarded by m, unless m
// is nil. What guarding takes is in the three blocks marked below.
func newOperator(cfg *rest.Config, m *freshness.Monitor, saw func(o object, color string)) (ctrl.Manager, error) {
	opts := ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		// Two operators in one process have controllers of the same names.
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
	if m != nil { // Guarded, part 1: connections that notice when the other end is gone.
		if _, err := transport.Wrap(cfg, transport.Options{}); err != nil {
			return nil, err
		}
	}
	if m != nil { // Guarded, part 2: informers are made by the monitor.
		opts.Cache.NewInformer = m.NewInformer
	}
	mgr, err := ctrl.NewManager(cfg, opts)
	if err != nil {
		return nil, err
	}
	if m != nil { // Guarded, part 3: the manager runs it, and liveness asks it.
		if err := mgr.Add(m); err != nil {
			return nil, err
		}
		if err := mgr.AddHealthzCheck("freshness", m.Check); err != nil {
			return nil, err
		}
	}
	for _, o := range []object{settings, gadget} {
		r := &reconciler{cache: mgr.GetCache(), object: o, saw: saw}
		if err := ctrl.NewControllerManagedBy(mgr).Named(o.resource()).For(o.empty()).Complete(r); err != nil {
			return nil, err
		}
	}
	return mgr, nil
}

// reconciler reads an object from the cache, as reconcilers do.
type reconciler struct {
	cache  client.Reader
	object object
	saw    func(o object, color string)
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := r.object.empty()
	if err := r.cache.Get(ctx, req.NamespacedName, obj); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if req.Name == string(r.object) {
		r.saw(r.object, colorOf(obj))
	}
	return ctrl.Result{}, nil
}
