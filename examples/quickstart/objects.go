// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// object is one of the two that are edited and that both operators look after.
// All they have is a color.
type object string

const (
	settings object = "settings" // a ConfigMap
	gadget   object = "gadget"   // a Widget, which is a custom resource
)

const namespace = "default"

// String returns kind and name.
func (o object) String() string {
	if o == settings {
		return "ConfigMap " + string(o)
	}
	return "Widget " + string(o)
}

// resource is what informers, proxies and etcd know it by.
func (o object) resource() string {
	if o == settings {
		return "configmaps"
	}
	return "widgets"
}

// field is the one that the color is in.
func (o object) field() string {
	if o == settings {
		return "data"
	}
	return "spec"
}

// empty returns an object of this kind for others to fill.
func (o object) empty() client.Object {
	if o == settings {
		return &corev1.ConfigMap{}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	return u
}

// named returns an object of this kind, with a color.
func (o object) named(name, color string) client.Object {
	obj := o.empty()
	obj.SetNamespace(namespace)
	obj.SetName(name)
	switch typed := obj.(type) {
	case *corev1.ConfigMap:
		typed.Data = map[string]string{"color": color}
	case *unstructured.Unstructured:
		typed.Object[o.field()] = map[string]any{"color": color}
	}
	return obj
}

// colorOf reads the color off an object of either kind.
func colorOf(obj client.Object) string {
	switch typed := obj.(type) {
	case *corev1.ConfigMap:
		return typed.Data["color"]
	case *unstructured.Unstructured:
		color, _, _ := unstructured.NestedString(typed.Object, gadget.field(), "color")
		return color
	default:
		return ""
	}
}

// widgetDefinition is the custom resource.
func widgetDefinition() *apiextensionsv1.CustomResourceDefinition {
	type props = map[string]apiextensionsv1.JSONSchemaProps
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: props{"color": {Type: "string"}}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: props{"spec": spec}},
				},
			}},
		},
	}
}
