// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/freshwatch/freshwatch/reconcile"
)

const (
	deployments  = "deployments"
	statefulSets = "statefulsets"
	namespace    = "default"
)

// workloads are the kinds of kube-controller-manager that the tests look at.
func workloads() []reconcile.GenerationKind {
	return []reconcile.GenerationKind{{Object: &appsv1.Deployment{}}, {Object: &appsv1.StatefulSet{}}}
}

// createWorkloads creates a Deployment and a StatefulSet of that name, without Pods.
func (p *plane) createWorkloads(t *testing.T, name string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: name}
	labels := map[string]string{"app": name}
	template := podTemplate(labels)
	selector := &metav1.LabelSelector{MatchLabels: labels}
	apps := p.Typed.AppsV1()
	if _, err := apps.Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: new(int32(0)), Selector: selector, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := apps.StatefulSets(namespace).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: new(int32(0)), Selector: selector, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func podTemplate(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
	}
}

// edit moves the generation of the two.
func (p *plane) edit(t *testing.T, name string, n int) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"minReadySeconds":%d}}`, n)
	apps := p.Typed.AppsV1()
	if _, err := apps.Deployments(namespace).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := apps.StatefulSets(namespace).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// observed returns the generation of the Deployment, and the observed one.
func (p *plane) observed(t *testing.T, name string) (generation, observed int64) {
	t.Helper()
	d, err := p.Typed.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d.Generation, d.Status.ObservedGeneration
}
