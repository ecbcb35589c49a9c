// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

const (
	namespace = "default"
	user      = "clientgo"
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
	c.grant(t)
	return c
}

// grant gives the program's user the rights that README.md names, and no others.
func (c cluster) grant(t *testing.T) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(readme), "```yaml\n")
	manifest, _, closed := strings.Cut(text, "```")
	if !found || !closed {
		t.Fatal("README.md has no YAML")
	}
	var role rbacv1.Role
	if err := yaml.UnmarshalStrict([]byte(manifest), &role); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	_, err1 := c.admin.RbacV1().Roles(role.Namespace).Create(t.Context(), &role, metav1.CreateOptions{})
	_, err2 := c.admin.RbacV1().RoleBindings(role.Namespace).Create(t.Context(), binding, metav1.CreateOptions{})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
}

// config reaches the cluster through the proxy, with those rights.
func (c cluster) config(t *testing.T, userAgent string) *rest.Config {
	t.Helper()
	cfg, err := c.User(user)
	if err != nil {
		t.Fatal(err)
	}
	cfg = c.proxy.Config(cfg)
	cfg.UserAgent = userAgent
	return cfg
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
