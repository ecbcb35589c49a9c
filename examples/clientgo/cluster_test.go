// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// cluster is a real control plane behind a proxy.
type cluster struct {
	*controlplane.ControlPlane
	proxy *faultproxy.API
	admin kubernetes.Interface
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real kube-apiserver, which -short leaves out")
	}
	var c cluster
	var err error
	if c.ControlPlane, err = controlplane.Start(t.Context(), controlplane.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { report(t, c.Stop()) })
	if c.proxy, err = faultproxy.NewAPI(c.Config(), faultproxy.APIOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { report(t, c.proxy.Close()) })
	c.admin = newClient(t, c.Config())
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "settings"}
	selector := map[string]string{"app": "settings"}
	_, err1 := c.admin.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
	_, err2 := c.admin.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: meta}, metav1.CreateOptions{})
	_, err3 := c.admin.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: selector},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: selector},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "settings", Image: "settings"}}},
		},
	}}, metav1.CreateOptions{})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return c
}

func report(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func newClient(t *testing.T, cfg *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	made, err := kubernetes.NewForConfigAndClient(cfg, client)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// edit changes the ConfigMap and the Deployment.
func (c cluster) edit(t *testing.T, color string) {
	t.Helper()
	_, err1 := c.admin.CoreV1().ConfigMaps(namespace).Patch(t.Context(), "settings", types.MergePatchType,
		fmt.Appendf(nil, `{"data":{"color":%q}}`, color), metav1.PatchOptions{})
	_, err2 := c.admin.AppsV1().Deployments(namespace).Patch(t.Context(), "settings", types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{"color":%q}}}`, color), metav1.PatchOptions{})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
}

// relists counts the objects that the program was sent to fill a cache anew.
func relists(c cluster, since time.Time) (n int64) {
	for _, r := range c.proxy.Requests(faultproxy.Match{UserAgent: "guarded"}) {
		if r.Start.After(since) {
			n += r.Objects + r.InitialObjects
		}
	}
	return n
}
