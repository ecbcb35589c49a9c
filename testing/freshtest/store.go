// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"cmp"
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// firstRV is where the global counter begins: no kube-apiserver that a client reaches is near 0, which has a meaning
// of its own in requests.
const firstRV = 100

// key names an object within its kind.
type key struct{ namespace, name string }

// compare orders keys as etcd does, by the path namespace/name.
func (k key) compare(other key) int {
	return cmp.Compare(k.namespace+"/"+k.name, other.namespace+"/"+other.name)
}

func keyOf(obj *unstructured.Unstructured) key {
	return key{namespace: obj.GetNamespace(), name: obj.GetName()}
}

// objects is a kind's contents. The objects in it are never changed, only replaced.
type objects map[key]*unstructured.Unstructured

// change is one write. prev is nil for a creation, obj for a deletion.
type change struct {
	rv        uint64
	key       key
	obj, prev *unstructured.Unstructured
}

// store models etcd: one counter for everything, the objects, and the log of changes by which earlier states can be
// read and watch caches can follow.
type store struct {
	rv        uint64
	compacted uint64 // states before this one can no longer be read
	tables    map[schema.GroupVersionResource]*table
}

// table is one kind's part of the store.
type table struct {
	objects objects
	log     []change // since the last compaction, in order
}

func newStore(kinds []Kind) *store {
	s := &store{rv: firstRV, compacted: firstRV, tables: map[schema.GroupVersionResource]*table{}}
	for _, k := range kinds {
		s.tables[k.GVR()] = &table{objects: objects{}}
	}
	return s
}

// put stores obj, which the caller gives away, under the next RV.
func (s *store) put(gvr schema.GroupVersionResource, obj *unstructured.Unstructured) change {
	s.rv++
	obj.SetResourceVersion(formatRV(s.rv))
	t, k := s.tables[gvr], keyOf(obj)
	ch := change{rv: s.rv, key: k, obj: obj, prev: t.objects[k]}
	t.objects[k] = obj
	t.log = append(t.log, ch)
	return ch
}

// remove deletes what is stored under k, which must exist. A deletion has an RV of its own.
func (s *store) remove(gvr schema.GroupVersionResource, k key) change {
	s.rv++
	t := s.tables[gvr]
	ch := change{rv: s.rv, key: k, prev: t.objects[k]}
	delete(t.objects, k)
	t.log = append(t.log, ch)
	return ch
}

// at returns the kind's contents as they were at rv, and false if that state has been compacted.
func (s *store) at(gvr schema.GroupVersionResource, rv uint64) (objects, bool) {
	if rv < s.compacted {
		return nil, false
	}
	t := s.tables[gvr]
	state := maps.Clone(t.objects)
	for i := len(t.log) - 1; i >= 0 && t.log[i].rv > rv; i-- {
		if ch := t.log[i]; ch.prev != nil {
			state[ch.key] = ch.prev
		} else {
			delete(state, ch.key)
		}
	}
	return state, true
}

// compact forgets every state before the current one.
func (s *store) compact() {
	s.compacted = s.rv
	for _, t := range s.tables {
		t.log = nil
	}
}

// clone returns a copy of the current state, without its past.
func (s *store) clone() *store {
	c := &store{rv: s.rv, compacted: s.rv, tables: map[schema.GroupVersionResource]*table{}}
	for gvr, t := range s.tables {
		c.tables[gvr] = &table{objects: maps.Clone(t.objects)}
	}
	return c
}

func formatRV(rv uint64) string { return strconv.FormatUint(rv, 10) }
