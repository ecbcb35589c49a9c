// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile_test

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/freshwatch/freshwatch/reconcile"
)

// An operator's own kind, whose condition Ready says what was seen, and a kind of
// somebody else's, less what that controller leaves alone.
func ExampleNewGenerations() {
	watchGenerations := func(mgr ctrl.Manager) error {
		model := &unstructured.Unstructured{}
		model.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Model"})
		notPaused, err := labels.Parse("!example.com/paused")
		if err != nil {
			return err
		}
		generations, err := reconcile.NewGenerations(mgr, []reconcile.GenerationKind{
			{Object: model, Condition: "Ready", Selector: notPaused},
			{Object: &appsv1.Deployment{}, Namespace: "models"},
		}, reconcile.GenerationOptions{})
		if err != nil {
			return err
		}
		if err := metrics.Registry.Register(generations); err != nil { // controller-runtime/pkg/metrics
			return err
		}
		return mgr.Add(generations)
	}
	_ = watchGenerations
}
