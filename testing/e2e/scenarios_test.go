// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// scenarios is the one table for both servers.
var scenarios = []scenario{
	silentStream,
	silence("silent stream, filled by list", custom("ListedSilent"), withoutWatchList),
	contextlessSilence,
	{
		name:  "frozen watch cache",
		kind:  custom("Frozen"),
		fault: backend.freezeWatchCache,
		// In all longer than liveness would take to fail.
		hold: 70 * time.Second, untilNamed: true,
		want: expectation{
			reaches:    []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Fresh},
			never:      []freshness.Verdict{freshness.Stalled, freshness.Blind, freshness.Unreachable},
			may:        []freshness.Rung{freshness.Resume}, // the quickest way to a proof that is long overdue
			edit:       afterwards,
			stockBlind: true,
		},
	},
	{
		name:    "initial events that never end",
		kind:    custom("Opening"),
		options: freshness.Options{SyncTimeout: 20 * time.Second},
		early:   true,
		fault:   backend.withholdInitialEnd,
		want: expectation{
			reaches:    []freshness.Verdict{freshness.Fresh},
			never:      []freshness.Verdict{freshness.Stalled, freshness.ControlPlaneStalled, freshness.Blind, freshness.Unreachable},
			must:       []freshness.Rung{freshness.List},
			may:        []freshness.Rung{freshness.Resume}, // the next proof is due before a bookmark is
			edit:       inTime,
			stockBlind: true,
			mayRefill:  true, // it is the first list
		},
	},
	{
		name:       "resourceVersion goes back",
		kind:       custom("Restored"),
		disruptive: true,
		prepare: func(b backend, t testing.TB) {
			b.backUp(t)
			b.put(t, "made-after-the-backup", before)
		},
		fault: backend.restore,
		want: expectation{
			reaches:    []freshness.Verdict{freshness.Stalled, freshness.Fresh},
			never:      []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Blind},
			must:       []freshness.Rung{freshness.Relist},
			may:        []freshness.Rung{freshness.Resume}, // a relist proves nothing; the next proof may be due before a bookmark is
			edit:       inTime,
			stockBlind: true,
			mayRefill:  true,
		},
	},
	forbidden("list forbidden", "Forbidden", nil),
	forbidden("list forbidden, client without context", "ContextlessForbidden", withoutContext),
	unreachable("API server refuses connections", "Refused", backend.refuse),
	unreachable("API server swallows everything", "Swallowed", backend.swallow),
	{
		// The end of a renewed watch proves as much.
		name:  "bookmarks withheld",
		kind:  custom("Unmarked"),
		early: true,
		fault: backend.withholdBookmarks,
		hold:  210 * time.Second,
		want: expectation{
			reaches:     []freshness.Verdict{freshness.Fresh},
			never:       []freshness.Verdict{freshness.Suspect, freshness.Stalled, freshness.ControlPlaneStalled, freshness.Blind, freshness.Unreachable},
			mayRefill:   true, // it is the first list
			provenEvery: promise,
		},
	},
	healthy("healthy and quiet", "Quiet", nil, 210*time.Second),
	healthy("healthy and quiet, filled by list", "Listed", withoutWatchList, 150*time.Second),
	healthy("healthy and quiet, client without context", "Contextless", withoutContext, 150*time.Second),
}

// withoutAudits are for informers that are Blind, whose contents are compared soon:
// the objects that takes could not be told from those of a relist.
var withoutAudits = freshness.Options{Audit: freshness.AuditOptions{Disabled: true}}

// silentStream is what the guard is for.
var silentStream = silence("silent stream", custom("Silent"), nil)

func silence(name string, k kind, as reader) scenario {
	return scenario{
		name:   name,
		kind:   k,
		client: as,
		fault:  backend.silence,
		want: expectation{
			reaches:    []freshness.Verdict{freshness.Stalled, freshness.Fresh},
			never:      []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Blind, freshness.Unreachable},
			must:       []freshness.Rung{freshness.Resume},
			edit:       inTime,
			stockBlind: true,
		},
	}
}

// contextlessSilence is the silent stream of a client that does not look at
// contexts. Its watch can only be ended in a way that may cost a relist.
var contextlessSilence = func() scenario {
	s := silence("silent stream, client without context", custom("ContextlessSilent"), withoutContext)
	s.want.may, s.want.mayRefill = []freshness.Rung{freshness.Relist}, true
	return s
}()

// healthy is a kind without objects that nobody writes: nothing arrives but
// bookmarks, and that is all right.
func healthy(name, kindName string, as reader, hold time.Duration) scenario {
	return scenario{
		name:   name,
		kind:   custom(kindName),
		quiet:  true,
		client: as,
		hold:   hold,
		want: expectation{
			reaches:     []freshness.Verdict{freshness.Fresh},
			never:       []freshness.Verdict{freshness.Suspect, freshness.Stalled, freshness.ControlPlaneStalled, freshness.Blind, freshness.Unreachable},
			provenEvery: 65 * time.Second,
		},
	}
}

// forbidden takes the right to list from an informer whose watch goes on: nothing
// can be proven of it, and nothing is wrong with it.
func forbidden(name, kindName string, as reader) scenario {
	return scenario{
		name:    name,
		kind:    custom(kindName),
		options: withoutAudits,
		client:  as,
		fault:   backend.forbidLists,
		hold:    20 * time.Second, untilNamed: true,
		want: expectation{
			reaches:   []freshness.Verdict{freshness.Blind, freshness.Fresh},
			never:     []freshness.Verdict{freshness.Stalled, freshness.ControlPlaneStalled, freshness.Unreachable},
			may:       []freshness.Rung{freshness.Resume}, // see "frozen watch cache"
			mayRefill: as != nil,                          // to end such a watch may cost a relist
		},
	}
}

// unreachable is a minute without the API server: nothing is known of the
// informers, and nothing is to be done about them.
func unreachable(name, kindName string, fault func(backend, testing.TB) func()) scenario {
	return scenario{
		name:  name,
		kind:  custom(kindName),
		fault: fault,
		hold:  time.Minute,
		want: expectation{
			reaches:    []freshness.Verdict{freshness.Fresh},
			never:      []freshness.Verdict{freshness.Stalled, freshness.ControlPlaneStalled, freshness.Blind},
			may:        []freshness.Rung{freshness.Resume}, // see "frozen watch cache"
			edit:       afterwards,
			stockBlind: true,
			mayRefill:  true, // a broken connection may cost the reflector a list, guard or not
		},
	}
}

func TestScenariosOnScriptedServer(t *testing.T) {
	if testing.Short() {
		t.Log("-short: the same scenarios are not played on a real kube-apiserver")
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				playAndCheck(t, s, newScripted(t, s.kind))
			})
		})
	}
}

func TestScenariosOnRealServer(t *testing.T) {
	realServerTest(t)
	table := scenarios
	if withoutProgress() {
		table = scenariosWithoutProgress
	}
	for _, s := range table {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			playAndCheck(t, s, realServerFor(t, s))
		})
	}
}

func realServerFor(t *testing.T, s scenario) backend {
	t.Helper()
	if s.disruptive {
		return newOwnServer(t, s.kind, s.name)
	}
	return newServer(t, sharedPlane.Get(t), s.kind, s.name)
}

func playAndCheck(t *testing.T, s scenario, b backend) {
	t.Helper()
	o := s.run(t, b, promise+slack)
	results.add(t, s.name, b.name(), o)
	if err := s.check(o); err != nil {
		t.Errorf("%v\nslow: %q, history:\n%v", err, o.slow, o.history)
	}
}

// brokenGuards are guards whose lack the checks have to notice.
var brokenGuards = []struct {
	name     string
	disabled []freshness.Rung
	limit    time.Duration
	want     []error // all of these
	unseen   bool    // the edit is never seen
}{
	{
		name:     "without resume",
		disabled: []freshness.Rung{freshness.Resume},
		limit:    promise + slack,
		want:     []error{errCure, errRefilled},
	},
	{
		name:     "without cures",
		disabled: []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List},
		limit:    2 * freshness.DefaultMaxStaleness, // until liveness has failed
		want:     []error{errCure, errUnseen, errNotFresh, errLiveness, errContents},
		unseen:   true,
	},
}

func TestBrokenGuardsAreNoticedOnScriptedServer(t *testing.T) {
	for _, g := range brokenGuards {
		t.Run(g.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := silentStream.run(t, newScripted(t, silentStream.kind), g.limit, g.disabled...)
				checkBroken(t, o, g.want, g.unseen)
			})
		})
	}
}

func TestBrokenGuardsAreNoticedOnRealServer(t *testing.T) {
	realServerTest(t)
	for _, g := range brokenGuards {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			b := newServer(t, sharedPlane.Get(t), silentStream.kind, "broken "+g.name)
			o := silentStream.run(t, b, g.limit, g.disabled...)
			results.add(t, silentStream.name+", guard "+g.name, b.name(), o)
			checkBroken(t, o, g.want, g.unseen)
		})
	}
}

// checkBroken fails unless the checks of the silent stream object to the outcome.
func checkBroken(t *testing.T, o outcome, want []error, unseen bool) {
	t.Helper()
	err := silentStream.check(o)
	for _, w := range want {
		if errors.Is(w, errLiveness) && o.slow != "" {
			continue // nobody is convicted by a proof that may have missed its bookmark
		}
		if !errors.Is(err, w) {
			t.Errorf("the checks do not object that %q, but say: %v\nhistory:\n%v", w, err, o.history)
		}
	}
	if errors.Is(err, errNoFault) {
		t.Errorf("%v\nhistory:\n%v", err, o.history)
	}
	if (o.seen < 0) != unseen {
		t.Errorf("the edit was seen after %v (negative: never), want never: %t", o.seen, unseen)
	}
}
