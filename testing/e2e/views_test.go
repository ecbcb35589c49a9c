// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// view is one way in which an operator looks at a kind.
type view struct {
	name string
	kind kind
	as   representation
	// namespaces of the informers, one each; "" is all.
	namespaces   []string
	label, field string // selectors

	clusterScoped bool
	// home is where the object is that an informer of all namespaces is to see.
	home string
	// body of the objects.
	body map[string]any
}

// representation is the Go type that a kind is decoded into.
type representation int

const (
	typed representation = iota // and sent as protobuf
	untyped
	metadataOnly
)

// selected is a kind for the views alone.
var selected = custom("Selected")

// viewsFrom are all of different kinds, so that the stream of each can be told
// from the others'. They select what belongs to the first namespace. None is a kind
// of which other tests create thousands: whoever resumes after the last event that
// the watch cache has forgotten, but before the first that it still has, is told 410
// and lists, guard or not.
func viewsFrom(home, second string) []view {
	type obj = map[string]any
	one, two, all := []string{home}, []string{home, second}, []string{""}
	containers := []any{obj{"name": "c", "image": "none"}}
	pod := obj{"nodeName": home, "containers": containers}
	template := obj{"metadata": obj{"labels": obj{"a": "b"}}, "spec": obj{"containers": containers}}
	return []view{
		{name: "typed, one namespace, by label", kind: kind{name: "PodTemplate"}, namespaces: one, label: "of=" + home, body: obj{"template": template}},
		{name: "typed, two namespaces", kind: kind{name: "LimitRange"}, namespaces: two, body: obj{"spec": obj{"limits": []any{}}}},
		{name: "typed, by metadata.name", kind: kind{name: "ServiceAccount"}, namespaces: one, field: "metadata.name=target"},
		{name: "typed, by spec.nodeName", kind: kind{name: "Pod"}, namespaces: all, home: home, field: "spec.nodeName=" + home, body: obj{"spec": pod}},
		{name: "typed, cluster-scoped, by label", kind: kind{name: "Node"}, namespaces: all, clusterScoped: true, label: "of=" + home},
		{name: "metadata only, one namespace", kind: kind{name: "Secret"}, as: metadataOnly, namespaces: one},
		{name: "metadata only, by label", kind: kind{name: "ResourceQuota"}, as: metadataOnly, namespaces: all, home: home, label: "of=" + home},
		{name: "unstructured, by label", kind: selected, as: untyped, namespaces: all, home: home, label: "of=" + home},
	}
}

// target returns what the informer of a namespace is to see.
func (v view) target(namespace, owner string) types.NamespacedName {
	switch {
	case v.clusterScoped:
		return types.NamespacedName{Name: owner}
	case namespace == "":
		return types.NamespacedName{Namespace: v.home, Name: "target"}
	default:
		return types.NamespacedName{Namespace: namespace, Name: "target"}
	}
}

// colorKey is an annotation, which every representation has.
const colorKey = "color"

// create makes an object.
func (v view) create(t *testing.T, client dynamic.Interface, at types.NamespacedName, owner string) {
	t.Helper()
	obj := &unstructured.Unstructured{Object: maps.Clone(v.body)}
	if obj.Object == nil {
		obj.Object = map[string]any{}
	}
	obj.SetGroupVersionKind(v.kind.gvk())
	obj.SetNamespace(at.Namespace)
	obj.SetName(at.Name)
	obj.SetLabels(map[string]string{"of": owner})
	if _, err := client.Resource(v.kind.gvr()).Namespace(at.Namespace).Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// paint edits an object.
func (v view) paint(ctx context.Context, client dynamic.Interface, at types.NamespacedName, color string) error {
	patch := []byte(`{"metadata":{"annotations":{"` + colorKey + `":"` + color + `"}}}`)
	_, err := client.Resource(v.kind.gvr()).Namespace(at.Namespace).Patch(ctx, at.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
