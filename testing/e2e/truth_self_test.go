// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
)

// TestObserverKnowsTheTruth holds the observer itself to cases that are clear: it
// must not miss a claim that is wrong, and never object to one that may be right.
func TestObserverKnowsTheTruth(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	created := change{key: "ns/a", rv: 5, before: at(10), after: at(12)}
	edited := change{key: "ns/a", rv: 9, before: at(20), after: at(22)}
	deleted := change{key: "ns/a", before: at(30), after: at(32)}

	for _, c := range []struct {
		name       string
		changes    []change
		leaving    bool // the deletion was sent
		stored     int  // the object's resourceVersion in the store; 0: it is not there
		asOf       int
		violations int
		undecided  int
		real       int // staleness at 40
	}{
		{name: "all there", changes: []change{created, edited}, stored: 9, asOf: 39},
		{name: "more there than the ledger has", changes: []change{created}, stored: 9, asOf: 39},
		{name: "missing, and said to be there", changes: []change{created}, asOf: 13, violations: 1, real: 28},
		{name: "missing, and nothing is said about that time", changes: []change{created}, asOf: 9, real: 28},
		{name: "missing, and it may have come later", changes: []change{created}, asOf: 11, undecided: 1, real: 28},
		{name: "old, and said to be new", changes: []change{created, edited}, stored: 5, asOf: 23, violations: 1, real: 18},
		{name: "old, as said", changes: []change{created, edited}, stored: 5, asOf: 19, real: 18},
		{name: "both missing", changes: []change{created, edited}, asOf: 23, violations: 2, real: 28},
		{name: "gone", changes: []change{created, edited, deleted}, leaving: true, asOf: 39},
		{name: "gone, perhaps: nobody knows what became of the deletion", changes: []change{created, edited}, leaving: true, asOf: 39},
		{name: "still there, and said to be gone", changes: []change{created, edited, deleted}, leaving: true, stored: 9, asOf: 33, violations: 1, real: 8},
		{name: "still there, as said", changes: []change{created, edited, deleted}, leaving: true, stored: 9, asOf: 29, real: 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newObserver(newLedger(), cache.NewStore(cache.MetaNamespaceKeyFunc))
			if c.leaving {
				o.ledger.leave("ns/a")
			}
			for _, ch := range c.changes {
				o.ledger.add(ch)
			}
			keep(t, o.store, c.stored)
			o.hear(statement{asked: at(40), asOf: at(c.asOf), bound: at(40).Sub(at(c.asOf))})
			if o.honest.violations != c.violations || o.honest.undecided != c.undecided {
				t.Errorf("%d violations and %d undecided, want %d and %d: %s",
					o.honest.violations, o.honest.undecided, c.violations, c.undecided, o.honest.first)
			}
			if want := time.Duration(c.real) * time.Second; o.oldest != want {
				t.Errorf("real staleness %v, want %v", o.oldest, want)
			}
		})
	}
}

// keep stores ns/a at a resourceVersion.
func keep(t *testing.T, store cache.Store, rv int) {
	t.Helper()
	if rv == 0 {
		return
	}
	obj := configMaps.object("ns", "a", before)
	obj.SetResourceVersion(strconv.Itoa(rv))
	if err := store.Update(obj); err != nil {
		t.Fatal(err)
	}
}

// TestObserverSeesAStoreGoBack: what was there once counts as missing when it is
// there no more.
func TestObserverSeesAStoreGoBack(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	o := newObserver(newLedger(), cache.NewStore(cache.MetaNamespaceKeyFunc))
	o.ledger.add(change{key: "ns/a", rv: 9, before: begin, after: begin})
	keep(t, o.store, 9)
	said := statement{asked: begin.Add(2 * time.Second), asOf: begin.Add(time.Second), bound: time.Second}
	o.hear(said)
	if o.honest.violations != 0 {
		t.Fatalf("violations though all is there: %s", o.honest.first)
	}
	keep(t, o.store, 5)
	o.hear(said)
	if o.honest.violations != 1 {
		t.Errorf("%d violations, want 1", o.honest.violations)
	}
}

// TestObserverObjectsToEitherFigure: the bound and the moment are stated apart, and
// each is a claim.
func TestObserverObjectsToEitherFigure(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	asked := begin.Add(time.Minute)
	for name, said := range map[string]statement{
		"the moment": {asked: asked, asOf: begin.Add(time.Second), bound: 2 * time.Minute},
		"the bound":  {asked: asked, asOf: begin.Add(-time.Minute), bound: 30 * time.Second},
	} {
		o := newObserver(newLedger(), cache.NewStore(cache.MetaNamespaceKeyFunc))
		o.ledger.add(change{key: "ns/a", rv: 9, before: begin, after: begin})
		o.hear(said)
		if o.honest.violations != 1 {
			t.Errorf("%s: %d violations, want 1", name, o.honest.violations)
		}
	}
}
