// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"fmt"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// checkPreconditions refuses a write that was made for another state of the object, or for another object of the same
// name. What is empty is not checked.
func (k Kind) checkPreconditions(current *unstructured.Unstructured, uid types.UID, resourceVersion string) error {
	if uid != "" && uid != current.GetUID() {
		return k.conflict(current, fmt.Errorf("the UID is %s, but %s was expected", current.GetUID(), uid))
	}
	if resourceVersion != "" && resourceVersion != current.GetResourceVersion() {
		return k.conflict(current, errModified)
	}
	return nil
}

// merge returns next as far as part allows it, with all that only the server writes as in current.
func (k Kind) merge(current, next *unstructured.Unstructured, part scope) *unstructured.Unstructured {
	switch {
	case part == statusOnly:
		status := next
		next = current.DeepCopy()
		copyField(next, status, "status")
	case part == mainResource && k.Status:
		copyField(next, current, "status")
	}
	next.SetGroupVersionKind(k.GVK())
	next.SetName(current.GetName())
	next.SetNamespace(current.GetNamespace())
	next.SetUID(current.GetUID())
	next.SetResourceVersion(current.GetResourceVersion())
	next.SetCreationTimestamp(current.GetCreationTimestamp())
	next.SetDeletionTimestamp(current.GetDeletionTimestamp())
	next.SetManagedFields(nil)
	next.SetGeneration(current.GetGeneration())
	if k.generations() && !reflect.DeepEqual(desired(current), desired(next)) {
		next.SetGeneration(current.GetGeneration() + 1)
	}
	return next
}

// copyField makes a top-level field of dst what it is in src, absent included.
func copyField(dst, src *unstructured.Unstructured, field string) {
	if value, ok := src.Object[field]; ok {
		dst.Object[field] = value
	} else {
		delete(dst.Object, field)
	}
}

// desired returns the part of an object whose changes metadata.generation counts.
func desired(obj *unstructured.Unstructured) map[string]any {
	part := maps.Clone(obj.Object)
	delete(part, "metadata")
	delete(part, "status")
	return part
}
