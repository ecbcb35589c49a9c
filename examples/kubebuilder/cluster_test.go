// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package kubebuilder

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// cluster is a real control plane in which the operator is installed: all that the
// scaffold's manifests have, and nothing else.
type cluster struct {
	*controlplane.ControlPlane
	admin     client.Client
	namespace string
	account   string   // the operator's ServiceAccount
	args      []string // of the operator's container
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real kube-apiserver, which -short leaves out")
	}
	c := &cluster{}
	var err error
	if c.ControlPlane, err = controlplane.Start(t.Context(), controlplane.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { report(t, c.Stop()) })
	c.admin = newClient(t, c.Config())
	for _, object := range manifests(t) {
		if err := c.admin.Create(t.Context(), object); err != nil {
			t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
		if object.GetKind() == "Deployment" {
			c.deployed(t, object)
		}
	}
	waitFor(t, patience, "the kind is served", func() bool {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(guestbookKind)
		return c.admin.List(t.Context(), list) == nil
	})
	return c
}

// deployed keeps what the Deployment says of the operator.
func (c *cluster) deployed(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &d); err != nil {
		t.Fatal(err)
	}
	c.namespace, c.account = d.Namespace, d.Spec.Template.Spec.ServiceAccountName
	c.args = slices.Clone(d.Spec.Template.Spec.Containers[0].Args)
}

// manifests returns what `kustomize build config/default` does.
func manifests(t *testing.T) (objects []*unstructured.Unstructured) {
	t.Helper()
	opts := krusty.MakeDefaultOptions()
	opts.Reorder = krusty.ReorderOptionLegacy // namespaces and definitions first
	resources, err := krusty.MakeKustomizer(opts).Run(filesys.MakeFsOnDisk(), scaffold+"/config/default")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range resources.Resources() {
		content, err := r.Map()
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	return objects
}

// token returns a token of a ServiceAccount in the operator's namespace.
func (c *cluster) token(t *testing.T, account string) string {
	t.Helper()
	return c.serviceAccount(t, account).BearerToken
}

func (c *cluster) serviceAccount(t *testing.T, account string) *rest.Config {
	t.Helper()
	cfg, err := c.ServiceAccount(t.Context(), c.namespace, account, 0)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func newClient(t *testing.T, cfg *rest.Config) client.Client {
	t.Helper()
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpClient.CloseIdleConnections)
	made, err := client.New(cfg, client.Options{HTTPClient: httpClient})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func report(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// edit gives the Guestbook another content, or makes it, past every proxy.
func (c *cluster) edit(t *testing.T, foo string) {
	t.Helper()
	guestbook := &unstructured.Unstructured{}
	guestbook.SetGroupVersionKind(guestbookKind)
	guestbook.SetNamespace("default")
	guestbook.SetName("guestbook-sample")
	guestbook.Object["spec"] = map[string]any{"foo": foo}
	patch := client.ApplyConfigurationFromUnstructured(guestbook)
	if err := c.admin.Apply(t.Context(), patch, client.FieldOwner("someone-else")); err != nil {
		t.Fatal(fmt.Errorf("edit: %w", err))
	}
}
