// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is what a scenario's informers watch: objects with data.color.
type kind struct{ group, name string }

// configMaps are built in. They have events and bookmarks of other users too.
var configMaps = kind{name: "ConfigMap"}

// custom returns a kind that nobody else uses, so that its watch cache is as
// quiet or as frozen as the scenario wants.
func custom(name string) kind { return kind{group: "e2e.freshwatch.example", name: name} }

func (k kind) resource() string { return strings.ToLower(k.name) + "s" }

func (k kind) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.group, Version: "v1", Kind: k.name}
}

func (k kind) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.group, Version: "v1", Resource: k.resource()}
}

// etcdPrefix is where kube-apiserver keeps the kind.
func (k kind) etcdPrefix() string {
	if k.group == "" {
		return "/registry/" + k.resource() + "/"
	}
	return "/registry/" + k.group + "/" + k.resource() + "/"
}

// object returns an object of the kind.
func (k kind) object(namespace, name, color string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"color": color}}}
	o.SetGroupVersionKind(k.gvk())
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// colorOf reads back what object was given.
func colorOf(obj any) string {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return ""
	}
	color, _, _ := unstructured.NestedString(u.Object, "data", "color")
	return color
}
