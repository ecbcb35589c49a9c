// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selector is the part of a kind that a list or a watch is about.
type selector struct {
	namespace string // empty for all
	labels    labels.Selector
	fields    fields.Selector
}

// newSelector returns the selector, or the error that kube-apiserver has for a field that cannot be selected by.
func newSelector(kind Kind, namespace string, l labels.Selector, f fields.Selector) (selector, error) {
	s := selector{namespace: namespace, labels: l, fields: f}
	if s.labels == nil {
		s.labels = labels.Everything()
	}
	if s.fields == nil {
		s.fields = fields.Everything()
	}
	for _, r := range s.fields.Requirements() {
		if r.Field != "metadata.name" && r.Field != "metadata.namespace" && !slices.Contains(kind.SelectableFields, r.Field) {
			return s, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", r.Field))
		}
	}
	return s, nil
}

// everything reports whether the selector narrows nothing but the namespace.
func (s selector) everything() bool { return s.labels.Empty() && s.fields.Empty() }

// matches reports whether the selector covers obj. A nil obj, which does not exist, matches nothing.
func (s selector) matches(obj *unstructured.Unstructured) bool {
	if obj == nil || s.namespace != "" && s.namespace != obj.GetNamespace() {
		return false
	}
	return s.labels.Matches(labels.Set(obj.GetLabels())) && s.fields.Matches(objectFields{obj})
}

// objectFields reads the fields of an object by their dotted paths.
type objectFields struct{ obj *unstructured.Unstructured }

// Has implements fields.Fields.
func (f objectFields) Has(field string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(f.obj.Object, strings.Split(field, ".")...)
	return found && err == nil
}

// Get implements fields.Fields. A field that is absent reads as empty, as in kube-apiserver.
func (f objectFields) Get(field string) string {
	value, found, err := unstructured.NestedFieldNoCopy(f.obj.Object, strings.Split(field, ".")...)
	if !found || err != nil || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
