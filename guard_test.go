// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/transport"
)

// given is what a manager and a registry are given.
type given struct {
	Checks     []string
	Runnables  []string
	Subsystems []string
	Page       bool
	Monitored  bool // informers, and what the manager's client writes
	Guarded    bool // connections
}

func givenTo(t *testing.T, g *guarded) given {
	t.Helper()
	out := given{Runnables: g.runnables, Subsystems: g.subsystems(t), Guarded: transport.IsWrapped(g.GetConfig())}
	for name := range g.checks {
		out.Checks = append(out.Checks, name)
	}
	slices.Sort(out.Checks)
	_, out.Page = g.options.Metrics.ExtraHandlers[DefaultDebugPath]
	out.Monitored = g.options.Cache.NewInformer != nil && g.options.NewClient != nil
	if len(g.ready) != 0 {
		t.Errorf("readiness has checks: %q", g.ready)
	}
	return out
}

func all() given {
	return given{
		Checks: []string{"freshness", "reconcile", "watch-canary"},
		Runnables: []string{
			"with the caches: *freshness.Monitor", "*transport.Transport", "*watchcanary.Canary", "*reconcile.Deadlines", "*reconcile.Generations", "*freshevents.Events",
		},
		Subsystems: []string{"canary", "events", "reconcile", "transport"},
		Page:       true, Monitored: true, Guarded: true,
	}
}

// A part that is turned off leaves no trace, and changes nothing of the others.
func TestParts(t *testing.T) {
	without := func(list []string, what ...string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(what, s) })
	}
	tests := map[string]struct {
		off  Parts
		want func(*given)
	}{
		"":          {Parts{}, func(*given) {}},
		"Transport": {Parts{Transport: true}, func(g *given) { g.Guarded = false; g.lose(without, "", "*transport.Transport", "transport") }},
		"Freshness": {Parts{Freshness: true}, func(g *given) {
			g.Monitored = false
			g.lose(without, "freshness", "with the caches: *freshness.Monitor", "informer")
		}},
		"Canary":         {Parts{Canary: true}, func(g *given) { g.lose(without, "watch-canary", "*watchcanary.Canary", "canary") }},
		"Reconcile":      {Parts{Reconcile: true}, func(g *given) { g.lose(without, "reconcile", "*reconcile.Deadlines", "reconcile") }},
		"FlightRecorder": {Parts{FlightRecorder: true}, func(g *given) { g.Page = false }},
		"DebugPage":      {Parts{DebugPage: true}, func(g *given) { g.Page = false }},
		"Events":         {Parts{Events: true}, func(g *given) { g.lose(without, "", "*freshevents.Events", "events") }},
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Parts]()) {
		if _, ok := tests[f.Name]; !ok {
			t.Errorf("Parts.%s is not tested", f.Name)
		}
	}
	for name, tt := range tests {
		t.Run("without "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := Options{Generations: []reconcile.GenerationKind{{Object: &corev1.Pod{}}}, Disable: tt.off}
				g := newGuarded(t, freshtest.Start(t, freshtest.Options{}).Config(), o)
				want := all()
				tt.want(&want)
				if diff := cmp.Diff(want, givenTo(t, g)); diff != "" {
					t.Errorf("the manager was given (-want +got):\n%s", diff)
				}
				made := map[string]bool{
					"Transport": g.guard.Transport() != nil, "Freshness": g.guard.Monitor() != nil, "Canary": g.guard.Canary() != nil,
					"Reconcile": g.guard.Deadlines() != nil, "FlightRecorder": g.guard.Recorder() != nil, "DebugPage": g.guard.DebugPage() != nil, "Events": g.guard.Events() != nil,
				}
				for part, is := range made {
					if on := part != name && !(part == "DebugPage" && tt.off.FlightRecorder); is != on {
						t.Errorf("there is a %s: %v", part, is)
					}
				}
			})
		})
	}
}

func (g *given) lose(without func([]string, ...string) []string, check, runnable, subsystem string) {
	g.Checks, g.Runnables, g.Subsystems = without(g.Checks, check), without(g.Runnables, runnable), without(g.Subsystems, subsystem)
}

// Without kinds nothing is read live.
func TestNoGenerations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(t, freshtest.Start(t, freshtest.Options{}).Config(), Options{})
		if g.guard.Generations() != nil || slices.Contains(g.runnables, "*reconcile.Generations") {
			t.Error("objects are read")
		}
	})
}
