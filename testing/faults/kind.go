// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	group = "faults.freshwatch.example"
	// population is how many objects a relist would send.
	population = 20
	// edited is the object whose color is changed once the fault is there.
	edited        = "object-0"
	before, after = "red", "blue"
)

// kind is a custom resource that no other row uses, so that its watch cache is as
// quiet or as frozen as the row wants.
type kind struct {
	Name string
	// Version that the informers read; empty: v1, which is the one stored.
	Version string
}

// kindOf names the kind of a row.
func kindOf(id string) kind {
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, id)
	return kind{Name: "Row" + letters}
}

func (k kind) resource() string { return strings.ToLower(k.Name) + "s" }

func (k kind) stored() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: k.resource()}
}

// read is what the informers ask for.
func (k kind) read() schema.GroupVersionResource {
	gvr := k.stored()
	if k.Version != "" {
		gvr.Version = k.Version
	}
	return gvr
}

func (k kind) gvk() schema.GroupVersionKind {
	return k.read().GroupVersion().WithKind(k.Name)
}

// etcdPrefix is where kube-apiserver keeps the kind.
func (k kind) etcdPrefix() string { return "/registry/" + group + "/" + k.resource() + "/" }

// object returns an object of the kind as it is stored.
func (k kind) object(namespace, name string, data map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"data": data}}
	o.SetGroupVersionKind(k.stored().GroupVersion().WithKind(k.Name))
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// colorOf reads an object's color, typed or not.
func colorOf(obj any) string {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		color, _, _ := unstructured.NestedString(o.Object, "data", "color")
		return color
	case *thing:
		return o.Data.Color
	default:
		return ""
	}
}

// definitions is where kinds are defined.
func definitions() schema.GroupVersionResource {
	return apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
}

// definition describes a kind whose data may hold anything.
func (k kind) definition() (*unstructured.Unstructured, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: k.resource() + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: k.Name, Plural: k.resource()},
		},
	}
	for _, version := range []string{"v1", "v2"} {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: version == "v1",
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type:       "object",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"data": {Type: "object", XPreserveUnknownFields: new(true)}},
			}},
		})
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	return &unstructured.Unstructured{Object: content}, err
}
