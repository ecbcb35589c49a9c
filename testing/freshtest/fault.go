// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// faultType says where a fault strikes.
type faultType int

const (
	stallOpen faultType = iota
	stallNew
	freezeCache
	dropEvents
	withholdBookmarks
	withholdInitialEnd
	respond
	deny
	refuse
	blackHole
)

// Fault is a fault in force. Its methods may be called concurrently.
type Fault struct {
	cl   *cluster
	kind faultType

	// What it strikes; zero values stand for any.
	gvr        schema.GroupVersionResource
	namespaces []string
	verbs      []string

	code int    // of respond
	lift func() // undoes what the fault did when it was set; called once, under the cluster's lock

	left int // strikes left; negative: no limit
	hits int
}

// Lift ends the fault. What it held back arrives now; what it lost stays lost. Further calls do nothing.
func (f *Fault) Lift() {
	f.cl.mu.Lock()
	defer f.cl.mu.Unlock()
	i := slices.Index(f.cl.faults, f)
	if i < 0 {
		return
	}
	f.cl.faults = slices.Delete(f.cl.faults, i, i+1)
	if f.lift != nil {
		f.lift()
	}
}

// Hits returns how often the fault has struck: streams silenced, events lost, bookmarks withheld, requests answered,
// connections black-holed. A test that sees none has not tested what it set out to. Freezes and refused connections
// are not counted.
func (f *Fault) Hits() int {
	f.cl.mu.Lock()
	defer f.cl.mu.Unlock()
	return f.hits
}

// matches reports whether the fault is about what happens: an empty verb is what verbs do not tell apart.
func (f *Fault) matches(gvr schema.GroupVersionResource, namespace, verb string) bool {
	return (f.gvr.Empty() || f.gvr == gvr) &&
		(len(f.namespaces) == 0 || slices.Contains(f.namespaces, namespace)) &&
		(len(f.verbs) == 0 || slices.Contains(f.verbs, verb))
}

// inflict puts a fault in force. The caller holds the lock.
func (cl *cluster) inflict(f *Fault) *Fault {
	f.cl = cl
	cl.faults = append(cl.faults, f)
	if _, served := cl.caches[f.gvr]; !f.gvr.Empty() && !served && f.gvr != accessReviewKind().GVR() {
		cl.options.Errorf("freshtest: a fault was set on %v, which the server does not serve", f.gvr)
	}
	return f
}

// strike returns the oldest fault of the type that matches, counted as a hit, or nil. The caller holds the lock.
func (cl *cluster) strike(t faultType, gvr schema.GroupVersionResource, namespace, verb string) *Fault {
	for _, f := range cl.faults {
		if f.kind == t && f.left != 0 && f.matches(gvr, namespace, verb) {
			f.hits++
			if f.left > 0 {
				f.left--
			}
			return f
		}
	}
	return nil
}
