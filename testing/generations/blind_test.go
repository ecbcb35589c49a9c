// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"slices"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// blindness is a fault that makes kube-controller-manager blind, and tells it nothing. What
// cures it is what people do: a restart.
type blindness struct {
	name, reason string
	inject       func(*plane) *faultproxy.Injection
	blind        []string // the kinds whose edits it does not see
}

func blindnesses() []blindness {
	both := []string{deployments, statefulSets}
	return []blindness{
		{
			"silent streams", "a load balancer has forgotten the flows, or one operator is quiet: it writes, but its watches are dead",
			func(p *plane) *faultproxy.Injection {
				return p.api.Inject(faultproxy.Match{Verb: "watch"}, faultproxy.Silence{})
			}, both,
		},
		{
			"one silent stream", "one informer alone: every other, and every canary, stays green",
			func(p *plane) *faultproxy.Injection {
				return p.api.Inject(faultproxy.Match{Verb: "watch", Resource: deployments}, faultproxy.Silence{})
			}, both[:1],
		},
		{
			"black hole", "a proxy that answers PINGs, and the way behind it is dead",
			func(p *plane) *faultproxy.Injection { return p.tcp.Blackhole(faultproxy.Blackhole{Existing: true}) }, both,
		},
	}
}

// A controller goes blind, in three ways, and is named each time; before, between and
// after nothing is.
func TestBlindControllers(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	p.createWorkloads(t, "edited")
	w := watch(t, p.Config(), workloads()...)
	both := []string{deployments, statefulSets}
	w.await(t, patience, "both are read", w.caughtUp(both...))

	n := 0
	edit := func() { n++; p.edit(t, "edited", n) }
	healthy := time.Now()
	for time.Since(healthy) < told+interval { // longer than a lag would take to be told
		edit()
		next := time.Now()
		w.await(t, slack, "a read", w.read(statefulSets, next))
	}
	w.await(t, slack, "all is observed", w.caughtUp(both...))
	if lines := w.logged(""); len(lines) > 0 {
		t.Errorf("a healthy controller is told of: %q", lines)
	}

	for _, b := range blindnesses() {
		t.Run(b.name, func(t *testing.T) {
			fault := b.inject(p)
			defer fault.Lift()
			edit()
			edited := time.Now()
			var named time.Duration
			for _, kind := range b.blind {
				w.await(t, told+2*slack, "the lag is told: "+b.reason, w.lags(kind, "edited"))
				named = time.Since(edited)
			}
			if generation, observed := p.observed(t, "edited"); observed >= generation {
				t.Fatalf("generation %d is observed: there was no fault", generation)
			}
			lag := w.of(deployments).Worst[0].String()
			for _, kind := range both {
				if !slices.Contains(b.blind, kind) && !w.caughtUp(kind)() {
					t.Errorf("%s trail as well: %+v", kind, w.of(kind))
				}
			}
			if fault.Hits() == 0 {
				t.Error("nothing was hit")
			}
			fault.Lift()
			p.tcp.Reset() // nobody else would end a connection that is dead
			if err := p.Restart(t.Context(), controlplane.ControllerManager); err != nil {
				t.Fatal(err)
			}
			caughtUp := w.await(t, patience, "all is observed again", w.caughtUp(both...))
			if lines := w.logged("No object lags any more"); len(lines) == 0 {
				t.Error("the log does not say that it has caught up")
			}
			figures(t, map[string]any{"namedAfter": named, "lag": lag, "caughtUpAfter": caughtUp, "errors": w.logged("cannot be read")})
		})
	}
	want := 0
	for _, b := range blindnesses() {
		want += len(b.blind)
	}
	if lines := w.logged("ahead of their controller"); len(lines) != want {
		t.Errorf("%d lines of lags, want %d:\n%q", len(lines), want, lines)
	}
	// The healthy edits took a moment, and each that was not seen as long as it was not.
	sum, samples := w.metric(t, "freshwatch_generation_propagation_seconds", deployments)
	faults := len(blindnesses())
	if blind := (time.Duration(faults) * limit).Seconds(); sum < blind || samples <= uint64(faults) {
		t.Errorf("%d edits took %v s to be reported, want more than those in %d faults, and more than %v s", samples, sum, faults, blind)
	}
	figures(t, map[string]any{"log": w.logged(""), "reported": samples, "propagationSum": sum})
}
