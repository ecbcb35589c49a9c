// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// testRealDeployment creates a Deployment and waits until the controller manager has made its pods and the scheduler has found no node.
func testRealDeployment(t *testing.T, admin kubernetes.Interface) {
	ctx := realContext(t)
	labels := map[string]string{"app": "demo"}
	replicas := int32(2)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
			},
		},
	}
	if _, err := admin.AppsV1().Deployments("default").Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two pods that the scheduler has looked at", func() bool {
		pods, err := admin.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=demo"})
		if err != nil {
			t.Fatal(err)
		}
		judged := 0
		for _, pod := range pods.Items {
			if pod.Spec.ServiceAccountName != "default" {
				t.Errorf("pod %s has ServiceAccount %q, want default", pod.Name, pod.Spec.ServiceAccountName)
			}
			for _, condition := range pod.Status.Conditions {
				if condition.Type == corev1.PodScheduled && strings.Contains(condition.Message, "no nodes available") {
					judged++
				}
			}
		}
		return judged == int(replicas)
	})
}

// number reads a resourceVersion.
func number(t *testing.T, resourceVersion string) int {
	t.Helper()
	n, err := strconv.Atoi(resourceVersion)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
