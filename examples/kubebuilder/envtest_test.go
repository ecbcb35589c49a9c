// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package kubebuilder

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch"
)

// newTestManager is for a suite: any number of managers, from the one config that envtest
// has returned.
func newTestManager(cfg *rest.Config, o ctrl.Options) (*freshwatch.Manager, error) {
	return freshwatch.NewManager(rest.CopyConfig(cfg), o, freshwatch.Options{Registerer: prometheus.NewRegistry()})
}

// What the scaffold's SetupWithManager does works with such a manager, and with another
// one it fails, as the documentation says.
func TestSuites(t *testing.T) {
	cfg := &rest.Config{Host: "https://nowhere.invalid"}
	o := ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)}}
	setUp := func(mgr ctrl.Manager) error {
		r := reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil })
		return freshwatch.Complete(mgr, "guestbook", ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}), r)
	}
	for range 2 {
		mgr, err := newTestManager(cfg, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := setUp(mgr); err != nil {
			t.Error(err)
		}
	}
	plain, err := ctrl.NewManager(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := setUp(plain); err == nil {
		t.Error("a manager without guards is taken")
	}
}
