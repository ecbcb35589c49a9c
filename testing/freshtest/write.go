// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"errors"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// create stores a new object, which the caller gives away, and returns what is stored.
func (cl *cluster) create(c *watchCache, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.createLocked(c, obj)
}

func (cl *cluster) createLocked(c *watchCache, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if obj.GetResourceVersion() != "" {
		return nil, errors.New("resourceVersion should not be set on objects to be created") // 500, as in kube-apiserver
	}
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		obj.SetName(obj.GetGenerateName() + rand.String(5))
	}
	if obj.GetName() == "" {
		return nil, c.kind.invalid(obj, field.Required(field.NewPath("metadata", "name"), "name or generateName is required"))
	}
	if _, exists := cl.store.tables[c.kind.GVR()].objects[keyOf(obj)]; exists {
		return nil, apierrors.NewAlreadyExists(c.kind.groupResource(), obj.GetName())
	}
	obj.SetGroupVersionKind(c.kind.GVK())
	obj.SetUID(uuid.NewUUID())
	obj.SetCreationTimestamp(metav1.NewTime(cl.clock.Now()))
	obj.SetDeletionTimestamp(nil)
	obj.SetManagedFields(nil)
	if c.kind.generations() {
		obj.SetGeneration(1)
	}
	cl.publish(c, cl.store.put(c.kind.GVR(), obj))
	return obj, nil
}

// scope is the part of an object that an update may change.
type scope int

const (
	wholeObject  scope = iota // all of it: for the test's own hand
	mainResource              // all but the status, where that is a subresource
	statusOnly
)

// changeFunc returns what is to become of an object. It may change the one it is given.
type changeFunc func(*unstructured.Unstructured) (*unstructured.Unstructured, error)

// replaceWith puts next in the place of whatever there is.
func replaceWith(next *unstructured.Unstructured) changeFunc {
	return func(*unstructured.Unstructured) (*unstructured.Unstructured, error) { return next, nil }
}

// update replaces the object under k by what change makes of a copy of it, with kube-apiserver's checks: a
// resourceVersion or UID that is set must be the current one, and what is the server's to write cannot be changed. An
// update that changes nothing writes nothing.
func (cl *cluster) update(c *watchCache, k key, part scope, change changeFunc) (*unstructured.Unstructured, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.updateLocked(c, k, part, change)
}

func (cl *cluster) updateLocked(
	c *watchCache, k key, part scope, change changeFunc,
) (*unstructured.Unstructured, error) {
	current, ok := cl.store.tables[c.kind.GVR()].objects[k]
	if !ok {
		return nil, apierrors.NewNotFound(c.kind.groupResource(), k.name)
	}
	next, err := change(current.DeepCopy())
	if err != nil {
		return nil, err
	}
	if part != wholeObject && c.kind.custom() && next.GetResourceVersion() == "" {
		path := field.NewPath("metadata", "resourceVersion")
		return nil, c.kind.invalid(next, field.Invalid(path, 0, "must be specified for an update"))
	}
	if err := c.kind.checkPreconditions(current, next.GetUID(), next.GetResourceVersion()); err != nil {
		return nil, err
	}
	next = c.kind.merge(current, next, part)
	switch {
	case reflect.DeepEqual(current.Object, next.Object):
		return current, nil
	case next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0:
		cl.publish(c, cl.store.remove(c.kind.GVR(), k))
	default:
		cl.publish(c, cl.store.put(c.kind.GVR(), next))
	}
	return next, nil
}

// delete removes the object under k, or marks it as being deleted if it has finalizers. It returns what is left of it,
// or nil.
func (cl *cluster) delete(
	c *watchCache, k key, conditions *metav1.Preconditions,
) (left *unstructured.Unstructured, err error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	current, ok := cl.store.tables[c.kind.GVR()].objects[k]
	if !ok {
		return nil, apierrors.NewNotFound(c.kind.groupResource(), k.name)
	}
	if conditions != nil {
		uid, resourceVersion := ptr.Deref(conditions.UID, ""), ptr.Deref(conditions.ResourceVersion, "")
		if err := c.kind.checkPreconditions(current, uid, resourceVersion); err != nil {
			return nil, err
		}
	}
	if len(current.GetFinalizers()) == 0 {
		cl.publish(c, cl.store.remove(c.kind.GVR(), k))
		return nil, nil
	}
	if current.GetDeletionTimestamp() != nil {
		return current, nil
	}
	dying := current.DeepCopy()
	now := metav1.NewTime(cl.clock.Now())
	dying.SetDeletionTimestamp(&now)
	if g := dying.GetGeneration(); g > 0 {
		dying.SetGeneration(g + 1)
	}
	cl.publish(c, cl.store.put(c.kind.GVR(), dying))
	return dying, nil
}

var errModified = errors.New(
	"the object has been modified; please apply your changes to the latest version and try again")

// invalid is the answer to an object with a field that is not valid.
func (k Kind) invalid(obj *unstructured.Unstructured, err *field.Error) error {
	return apierrors.NewInvalid(k.GVK().GroupKind(), obj.GetName(), field.ErrorList{err})
}

// conflict is the answer to a write that was made for something else than what is stored.
func (k Kind) conflict(obj *unstructured.Unstructured, reason error) error {
	return apierrors.NewConflict(k.groupResource(), obj.GetName(), reason)
}
