// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var gadgetKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}

// gadgets names the kind of the scripted objects.
func gadgets() GenerationKind {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gadgetKind)
	return GenerationKind{Object: u}
}

// gadget is an object of it.
type gadget struct {
	name                 string // and its uid, unless that is set
	uid                  string
	generation, observed int64
	deleting             bool
}

// listCall is a list that was asked for.
type listCall struct {
	full  bool
	limit int64
	token string
}

// gadgetServer is a client.Reader of gadgets in pages, and the manager that has it.
type gadgetServer struct {
	client.Reader // nothing but List

	mu      sync.Mutex
	gadgets []gadget
	calls   []listCall
	answer  func(context.Context, listCall) error // before each list; may change the gadgets
	unknown bool                                  // the mapper does not know the kind
}

func (s *gadgetServer) GetAPIReader() client.Reader { return s }

func (s *gadgetServer) GetScheme() *runtime.Scheme { return runtime.NewScheme() }

func (s *gadgetServer) GetRESTMapper() meta.RESTMapper { return gadgetMapper{server: s} }

// gadgetMapper knows one kind, if any.
type gadgetMapper struct {
	meta.RESTMapper
	server *gadgetServer
}

func (m gadgetMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	if m.server.unknown {
		return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
	}
	plural, _ := meta.UnsafeGuessKindToResource(gk.WithVersion(versions[0]))
	return &meta.RESTMapping{Resource: plural}, nil
}

func (s *gadgetServer) set(gadgets ...gadget) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gadgets = gadgets
}

// script sets what happens before each list.
func (s *gadgetServer) script(answer func(context.Context, listCall) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *gadgetServer) take() []listCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// List implements client.Reader. A continue token is the index of the next object.
func (s *gadgetServer) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	full, isFull := list.(*unstructured.UnstructuredList)
	call := listCall{full: isFull, limit: o.Limit, token: o.Continue}
	s.mu.Lock()
	s.calls = append(s.calls, call)
	answer := s.answer
	s.mu.Unlock()
	if answer != nil {
		if err := answer(ctx, call); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from, _ := strconv.Atoi(o.Continue)
	from = min(from, len(s.gadgets))
	to := len(s.gadgets)
	if o.Limit > 0 && from+int(o.Limit) < to {
		to = from + int(o.Limit)
		list.SetContinue(strconv.Itoa(to))
	}
	for _, g := range s.gadgets[from:to] {
		if isFull {
			full.Items = append(full.Items, *g.full())
		} else {
			metadata := list.(*metav1.PartialObjectMetadataList)
			metadata.Items = append(metadata.Items, *meta.AsPartialObjectMetadata(g.full()))
		}
	}
	return nil
}

func (g gadget) full() *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"observedGeneration": g.observed}}}
	u.SetGroupVersionKind(gadgetKind)
	u.SetNamespace("a")
	u.SetName(g.name)
	u.SetUID(types.UID(g.name + g.uid))
	u.SetGeneration(g.generation)
	if g.deleting {
		u.SetDeletionTimestamp(&metav1.Time{Time: generationAt(0)})
	}
	return u
}

// gadgetsAt are so many, all at one generation that is observed.
func gadgetsAt(n int, generation int64) []gadget {
	var out []gadget
	for i := range n {
		out = append(out, gadget{name: fmt.Sprintf("g%05d", i), generation: generation, observed: generation})
	}
	return out
}

func newGenerations(t *testing.T, s *gadgetServer, opts GenerationOptions) *Generations {
	t.Helper()
	g, err := NewGenerations(s, []GenerationKind{gadgets()}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// sorted are the names of those that a reading looked at, or missed.
func sorted[V any](m map[types.UID]V) []types.UID {
	out := []types.UID{}
	for uid := range m {
		out = append(out, uid)
	}
	slices.Sort(out)
	return out
}
