// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch"
)

// addControllers gives the manager some that an operator may have. The one of deployments
// waits for each of them as one does for a rollout, so that reconciles are in flight.
func addControllers(mgr *freshwatch.Manager) error {
	at := func(wait time.Duration) ctrlreconcile.Reconciler {
		return ctrlreconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
			select {
			case <-time.After(wait):
				return ctrl.Result{}, nil
			case <-ctx.Done():
				return ctrl.Result{}, ctx.Err()
			}
		})
	}
	return errors.Join(
		freshwatch.Complete(mgr, "settings", ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}), at(10*time.Millisecond)),
		freshwatch.Complete(mgr, "rollouts", ctrl.NewControllerManagedBy(mgr).For(&appsv1.Deployment{}).Owns(&appsv1.ReplicaSet{}), at(25*time.Second)),
		freshwatch.Complete(mgr, "endpoints", ctrl.NewControllerManagedBy(mgr).For(&corev1.Service{}), at(30*time.Millisecond)),
		freshwatch.Complete(mgr, "credentials", ctrl.NewControllerManagedBy(mgr).For(&corev1.Secret{}), at(10*time.Millisecond)),
	)
}

// names are those of the objects, of each kind.
func names() []string { return []string{"gateway", "model-server", "tokenizer"} }

func create(ctx context.Context, admin client.Client) error {
	for _, name := range names() {
		meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
		labels := map[string]string{"app": name}
		for _, obj := range []client.Object{
			&corev1.ConfigMap{ObjectMeta: meta},
			&corev1.Secret{ObjectMeta: meta},
			&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}},
			&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/" + name}}},
				},
			}},
		} {
			if err := admin.Create(ctx, obj); err != nil {
				return err
			}
		}
	}
	return nil
}

// edit changes objects now and then, until ctx ends.
func edit(ctx context.Context, admin client.Client) error {
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(2+rand.IntN(6)) * time.Second): //nolint:gosec // no matter
		}
		for _, obj := range []client.Object{&corev1.ConfigMap{}, &appsv1.Deployment{}, &corev1.Service{}} {
			if _, quiet := obj.(*corev1.Service); quiet && n%5 != 0 {
				continue
			}
			obj.SetNamespace(namespace)
			obj.SetName(names()[n%len(names())])
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/edit":"%d"}}}`, n)
			if err := admin.Patch(ctx, obj, client.RawPatch("application/merge-patch+json", patch)); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}
