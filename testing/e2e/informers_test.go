// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// TestEveryKindOfInformerHeals silences the stream of each informer of an
// operator. All but the stock informer is as in the scenario of the silent stream.
func TestEveryKindOfInformerHeals(t *testing.T) {
	realServerTest(t)
	for name, start := range operators {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedPlane.Get(t)
			p.serve(t, selected)
			home, second := p.namespace(t, name), p.namespace(t, name)
			f := &informerTest{plane: p, guard: startGuard(t, freshness.Options{})}
			f.api = startAPI(t, p)
			views := viewsFrom(home, second)
			for _, v := range views {
				for _, ns := range v.namespaces {
					v.create(t, p.dynamic, v.target(ns, home), home)
				}
			}
			lookups := start(t, f.meter.watch(f.api.Config(p.Config()), name), f.guard.Monitor, views)
			for i, v := range views {
				for _, ns := range v.namespaces {
					f.add(v, ns, v.target(ns, home), lookups[i])
				}
			}
			f.run(t)
			for _, s := range f.informers {
				t.Run(s.name(), func(t *testing.T) { f.check(t, name, s) })
			}
		})
	}
}

// informerTest is an operator with many informers.
type informerTest struct {
	plane     *plane
	guard     *guard
	api       *faultproxy.API
	meter     meter
	informers []*silenced
}

// silenced is one of its informers, and what became of its stream.
type silenced struct {
	view      view
	namespace string
	target    types.NamespacedName
	lookup    lookup
	out       outcome
}

func (s *silenced) name() string {
	if n := len(s.view.namespaces); n > 1 {
		return fmt.Sprintf("%s, %d of %d", s.view.name, 1+slices.Index(s.view.namespaces, s.namespace), n)
	}
	return s.view.name
}

// match selects the informer's requests.
func (s *silenced) match(verb string) faultproxy.Match {
	return faultproxy.Match{Verb: verb, Resource: s.view.kind.resource(), Namespace: s.namespace}
}

func (s *silenced) is(i freshness.Informer) bool {
	return i.Resource == s.view.kind.resource() && i.Namespace == s.namespace
}

func (f *informerTest) add(v view, namespace string, target types.NamespacedName, l lookup) {
	f.informers = append(f.informers, &silenced{
		view: v, namespace: namespace, target: target, lookup: l,
		out: outcome{detected: -1, seen: -1, fresh: -1, stockSeen: -1, lifted: -1},
	})
}

// all tells whether cond holds for all informers.
func (f *informerTest) all(cond func(*silenced, history) bool) func() bool {
	return func() bool {
		ok := true
		for _, s := range f.informers {
			ok = cond(s, f.guard.history(s.is)) && ok // look at all of them, to note when
		}
		return ok
	}
}

func (f *informerTest) run(t *testing.T) {
	t.Helper()
	proven := f.all(func(_ *silenced, h history) bool {
		return h.verdict() == freshness.Fresh && h.count(freshness.Proven) >= 2
	})
	if !poll.Until(t.Context(), patience, proven) {
		t.Fatalf("not all informers were proven fresh within %v: %v", patience, f.guard.Status())
	}
	for _, s := range f.informers {
		inj := f.api.Inject(s.match("watch"), faultproxy.Silence{OnlyOpen: true})
		s.out.fault = time.Now()
		if inj.Hits() != 1 {
			t.Errorf("%s: silenced %d streams, want 1", s.name(), inj.Hits())
		}
		if err := s.view.paint(t.Context(), f.plane.dynamic, s.target, after); err != nil {
			t.Fatal(err)
		}
		s.out.edited = true
	}
	poll.Until(t.Context(), promise+slack, f.all(func(s *silenced, h history) bool {
		elapsed := time.Since(s.out.fault)
		if s.out.seen < 0 && s.lookup(s.namespace, s.target) == after {
			s.out.seen = elapsed
		}
		if s.out.fresh < 0 && s.out.seen >= 0 && h.verdict() == freshness.Fresh && h.freshAsOf().After(s.out.fault) {
			s.out.fresh = elapsed
		}
		return s.out.fresh >= 0
	}))
}

// check holds an informer to what the scenario of the silent stream expects.
func (f *informerTest) check(t *testing.T, operator string, s *silenced) {
	t.Helper()
	o := s.out
	o.history, o.liveness, o.waited = f.guard.history(s.is), f.guard.liveness(), time.Since(o.fault)
	o.detected, o.slow = o.history.detected(o.fault), f.guard.slowness(f.meter.slowestProof(operator))
	o.refilled = refilled(f.api, s.match(""), o.fault)
	o.provenEvery = o.history.longestGap(time.Now())
	for _, r := range f.api.Requests(s.match("")) {
		if !r.Start.Before(o.fault) {
			o.requests++
		}
	}
	results.add(t, silentStream.name+": "+operator+", "+s.name(), serverName(), o)
	if err := silentStream.check(o); err != nil {
		t.Errorf("%v\nslow: %q, history:\n%v", err, o.slow, o.history)
	}
}
