// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Create stores a new object, its status included, past HTTP and its faults, as someone else's write. It sets obj's
// name if that was to be generated, and the metadata that a server sets. obj is unstructured, or of a type that
// Options.Scheme knows. Errors are those of the API (see k8s.io/apimachinery/pkg/api/errors).
func (s *Server) Create(obj runtime.Object) error {
	c, u, err := s.locate(obj)
	if err != nil {
		return err
	}
	stored, err := s.cl.create(c, u)
	if err != nil {
		return err
	}
	return copyMeta(obj, stored)
}

// Update replaces an object, its status included, past HTTP and its faults, as someone else's write. A resourceVersion
// in obj must be the current one; without one the update is unconditional. It sets obj's new resourceVersion; an update
// that changes nothing leaves the old one.
func (s *Server) Update(obj runtime.Object) error {
	c, u, err := s.locate(obj)
	if err != nil {
		return err
	}
	stored, err := s.cl.update(c, keyOf(u), wholeObject, replaceWith(u))
	if err != nil {
		return err
	}
	return copyMeta(obj, stored)
}

// Delete removes an object by its name, or marks it as being deleted if it has finalizers, past HTTP and its faults, as
// someone else's write.
func (s *Server) Delete(obj runtime.Object) error {
	c, u, err := s.locate(obj)
	if err != nil {
		return err
	}
	_, err = s.cl.delete(c, keyOf(u), nil)
	return err
}

// locate returns a copy of obj without a schema, and the watch cache of its kind.
func (s *Server) locate(obj runtime.Object) (*watchCache, *unstructured.Unstructured, error) {
	u, err := toUnstructured(s.cl.options.Scheme, obj)
	if err != nil {
		return nil, nil, fmt.Errorf("freshtest: %T: %w", obj, err)
	}
	for _, c := range s.cl.caches {
		if c.kind.GVK() != u.GroupVersionKind() {
			continue
		}
		if namespaced := u.GetNamespace() != ""; namespaced != c.kind.Namespaced {
			return nil, nil, fmt.Errorf("freshtest: %s %q: namespace is %q, but the kind's Namespaced is %v",
				c.kind.Kind, u.GetName(), u.GetNamespace(), c.kind.Namespaced)
		}
		return c, u, nil
	}
	return nil, nil, fmt.Errorf("freshtest: %v is not served", u.GroupVersionKind())
}

// copyMeta sets in obj what the server has set in stored.
func copyMeta(obj runtime.Object, stored *unstructured.Unstructured) error {
	m, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	m.SetName(stored.GetName())
	m.SetUID(stored.GetUID())
	m.SetResourceVersion(stored.GetResourceVersion())
	m.SetGeneration(stored.GetGeneration())
	m.SetCreationTimestamp(stored.GetCreationTimestamp())
	m.SetDeletionTimestamp(stored.GetDeletionTimestamp())
	return nil
}

// Bump moves the global RV by n, as n writes to kinds that nobody here watches do. No watch cache moves.
func (s *Server) Bump(n uint64) {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	s.cl.store.rv += n
}

// ResourceVersion returns the global RV.
func (s *Server) ResourceVersion() uint64 {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	return s.cl.store.rv
}

// WatchCacheResourceVersion returns the RV of a kind's watch cache, or 0 if the kind is not served.
func (s *Server) WatchCacheResourceVersion(gvr schema.GroupVersionResource) uint64 {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	if c, ok := s.cl.caches[gvr]; ok {
		return c.rv
	}
	return 0
}

// Watches returns how many watches of a kind are open. An empty gvr counts all kinds.
func (s *Server) Watches(gvr schema.GroupVersionResource) int {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	n := 0
	for _, c := range s.cl.caches {
		if gvr.Empty() || gvr == c.kind.GVR() {
			n += len(c.streams)
		}
	}
	return n
}

// Connections returns how many connections have been made to the server, closed ones included.
func (s *Server) Connections() int { return s.listener.Dialed() }
