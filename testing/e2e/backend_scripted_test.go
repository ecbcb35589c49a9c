// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// scripted is the server of package freshtest, in a synctest bubble.
type scripted struct {
	meter
	srv    *freshtest.Server
	kind   kind
	client dynamic.Interface
	backup *freshtest.Snapshot
}

func newScripted(t *testing.T, k kind) *scripted {
	t.Helper()
	srv := freshtest.Start(t, freshtest.Options{
		Kinds:         []freshtest.Kind{{Group: k.group, Version: "v1", Kind: k.name, Resource: k.resource(), Namespaced: true}},
		ProgressDelay: 100 * time.Millisecond,
	})
	s := &scripted{srv: srv, kind: k}
	s.client = dynamicClient(t, srv.Config())
	s.busyElsewhere(t)
	return s
}

// busyElsewhere writes other kinds, as the leases of every cluster do.
func (s *scripted) busyElsewhere(t *testing.T) {
	t.Helper()
	var wg sync.WaitGroup
	done := make(chan struct{})
	t.Cleanup(func() { close(done); wg.Wait() })
	wg.Go(func() {
		ticker := time.NewTicker(7 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.srv.Bump(3)
			case <-done:
				return
			}
		}
	})
}

func (s *scripted) name() string { return "scripted server" }

func (s *scripted) namespace() string { return "default" }

func (s *scripted) admin() dynamic.Interface { return s.client }

func (s *scripted) put(t testing.TB, name, color string) {
	t.Helper()
	obj := s.kind.object(s.namespace(), name, color)
	err := s.srv.Create(obj)
	if apierrors.IsAlreadyExists(err) {
		err = s.srv.Update(obj)
	}
	if err != nil {
		t.Fatalf("putting %s: %v", name, err)
	}
}

func (s *scripted) config(agent string) *rest.Config { return s.watch(s.srv.Config(), agent) }

func (s *scripted) silence(t testing.TB) func() {
	t.Helper()
	f := s.srv.Stall(s.kind.gvr())
	if f.Hits() != 2 {
		t.Errorf("silenced %d streams, want 2, guarded and stock", f.Hits())
	}
	return f.Lift
}

func (s *scripted) freezeWatchCache(testing.TB) func() {
	return s.srv.FreezeWatchCache(s.kind.gvr()).Lift
}

func (s *scripted) withholdInitialEnd(testing.TB) func() {
	return s.srv.WithholdInitialEventsEnd(s.kind.gvr()).Lift
}

func (s *scripted) withholdBookmarks(testing.TB) func() {
	return s.srv.WithholdBookmarks(s.kind.gvr()).Lift
}

func (s *scripted) forbidLists(testing.TB) func() {
	return s.srv.Deny(s.kind.gvr(), "list").Lift
}

func (s *scripted) refuse(testing.TB) func() {
	refusal := s.srv.Refuse()
	s.srv.DropConnections()
	return refusal.Lift
}

func (s *scripted) swallow(testing.TB) func() {
	hole, refusal := s.srv.BlackHole(), s.srv.Refuse()
	return func() { hole.Lift(); refusal.Lift() }
}

func (s *scripted) backUp(testing.TB) {
	s.backup = s.srv.Snapshot()
	s.srv.Bump(writesBeforeRestore)
}

func (s *scripted) restore(testing.TB) func() {
	s.srv.Rewind(s.backup)
	return nil
}
