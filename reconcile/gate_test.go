// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus/testutil"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/freshness"
)

var (
	_ monitor                               = (*freshness.Monitor)(nil)
	_ ctrlreconcile.Reconciler              = (*Gate[ctrlreconcile.Request])(nil)
	_ ctrlreconcile.TypedReconciler[string] = (*Gate[string])(nil)
)

func TestGateClosesAndOpens(t *testing.T) {
	g := newGated(t, GateOptions{Name: "cleaner"})
	if g.reconcile(t) {
		t.Error("held, though all is fresh")
	}
	g.monitor.set(widgets, freshness.Stalled)
	g.after(lookEvery - 1)
	if g.reconcile(t) {
		t.Error("the monitor was asked sooner than it looks itself")
	}
	g.after(1)
	for range 3 {
		if !g.reconcile(t) {
			t.Error("not held, though widgets are stalled")
		}
	}
	g.journal.wantLines(t, `"msg"="Reconciles are held: what they read is stale" "controller"="cleaner" "kinds"="widgets.example.com in a: Stalled: because"`)
	g.monitor.set(configMaps, freshness.ControlPlaneStalled)
	g.monitor.set(widgets, freshness.Fresh)
	g.after(time.Minute)
	if !g.reconcile(t) {
		t.Error("not held, though config maps are stale now")
	}
	g.monitor.set(configMaps, freshness.Fresh)
	g.after(time.Minute)
	if g.reconcile(t) {
		t.Error("held, though all is fresh again")
	}
	g.journal.wantLines(t, `"msg"="Reconciles go on" "controller"="cleaner" "held"="2m0s"`)
}

func TestGatePassesThrough(t *testing.T) {
	g := newGated(t, GateOptions{})
	g.result, g.err = ctrlreconcile.Result{RequeueAfter: time.Hour, Priority: new(7)}, errors.New("mine")
	for _, verdict := range []freshness.Verdict{freshness.Fresh, freshness.Suspect, freshness.Blind} {
		g.monitor.set(configMaps, verdict)
		g.after(time.Minute)
		res, err := g.Reconcile(t.Context(), "a")
		if diff := cmp.Diff(g.result, res); diff != "" || !errors.Is(err, g.err) {
			t.Errorf("error %v, result (-want +got):\n%s", err, diff)
		}
	}
}

func TestGateMaxHold(t *testing.T) {
	g := newGated(t, GateOptions{MaxHold: time.Hour})
	g.monitor.set(configMaps, freshness.Stalled)
	if !g.reconcile(t) {
		t.Error("not held")
	}
	g.after(time.Hour - 1)
	if !g.reconcile(t) {
		t.Error("not held, though an hour has not passed")
	}
	g.after(time.Hour)
	for range 2 {
		if g.reconcile(t) {
			t.Error("held for longer than allowed")
		}
	}
	g.journal.wantLines(t, "are held", `"maxHold"="1h0m0s"`)
	g.monitor.set(configMaps, freshness.Fresh)
	g.after(time.Minute)
	if g.reconcile(t) {
		t.Error("held, though all is fresh")
	}
	g.monitor.set(configMaps, freshness.Stalled)
	g.after(time.Minute)
	if !g.reconcile(t) {
		t.Error("not held by another stall")
	}
	g.journal.wantLines(t, "go on", "are held")
}

func TestGateUnmonitored(t *testing.T) {
	for _, closed := range []bool{false, true} {
		g := newGated(t, GateOptions{CloseUnmonitored: closed})
		delete(g.monitor.verdicts, widgets)
		g.after(unmonitoredGrace - 1)
		if got := g.reconcile(t); got != closed {
			t.Errorf("held %v without an informer, want %v", got, closed)
		}
		lines := g.journal.take()
		if closed != (len(lines) == 1) || closed && !strings.Contains(lines[0], "no informer of it is monitored") {
			t.Errorf("lines %q", lines)
		}
		for range 3 {
			g.after(lookEvery)
			g.reconcile(t)
		}
		g.journal.wantLines(t, `"msg"="No informer of this kind is monitored, so the gate cannot tell when it is stale" "kind"="widgets.example.com in a"`)

		g.monitor.set(widgets, freshness.Fresh)
		g.after(time.Hour)
		g.reconcile(t)
		g.journal.take()
		delete(g.monitor.verdicts, widgets)
		g.after(time.Hour)
		if got := g.reconcile(t); got != closed {
			t.Errorf("held %v after the informer was removed, want %v", got, closed)
		}
		if got := strings.Join(g.journal.take(), "\n"); !strings.Contains(got, "No informer of this kind") {
			t.Errorf("nothing was said of the removed informer, only %q", got)
		}
	}
}

// The first reconciles wait for a proof of the moment of the first one, all of them
// for the same, and only once.
func TestGateAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated(t, GateOptions{AtStart: true})
		var mu sync.Mutex
		asked := map[freshness.Informer]int{}
		g.monitor.ensure = func(ctx context.Context, of freshness.Informer, maxAge time.Duration) error {
			mu.Lock()
			asked[of]++
			mu.Unlock()
			if maxAge != 0 {
				t.Errorf("asked for a proof %v old, want one of the start", maxAge)
			}
			<-time.After(5 * time.Second)
			return ctx.Err()
		}
		var wg sync.WaitGroup
		begin := time.Now()
		for range 2 {
			wg.Go(func() {
				if wait, held := g.gate.admit(t.Context()); held {
					t.Errorf("held for %v, though proven", wait)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("waited for %v, want 5s: the proofs are made at once, and shared", took)
		}
		if g.reconcile(t) {
			t.Error("held after the start")
		}
		if diff := cmp.Diff(map[freshness.Informer]int{configMaps: 2, widgets: 2}, asked); diff != "" {
			t.Errorf("proofs asked for (-want +got):\n%s", diff)
		}
		g.journal.wantLines(t)
	})
}

func TestGateAtStartUnproven(t *testing.T) {
	never := errors.New("never")
	tests := []struct {
		name string
		opts GateOptions
		err  error
		held bool
	}{
		{"proven", GateOptions{}, nil, false},
		{"not proven", GateOptions{}, never, true},
		{"not monitored", GateOptions{}, freshness.ErrNotMonitored, false},
		{"not monitored, and that counts", GateOptions{CloseUnmonitored: true}, freshness.ErrNotMonitored, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.AtStart = true
			g := newGated(t, tt.opts)
			var asked []freshness.Informer
			var ages []time.Duration
			var mu sync.Mutex
			err := tt.err
			g.monitor.ensure = func(_ context.Context, of freshness.Informer, maxAge time.Duration) error {
				mu.Lock()
				defer mu.Unlock()
				asked, ages = append(asked, of), append(ages, maxAge)
				if of == widgets {
					return err
				}
				return nil
			}
			if got := g.reconcile(t); got != tt.held {
				t.Fatalf("held %v, want %v", got, tt.held)
			}
			if !tt.held {
				return
			}
			g.journal.wantLines(t, "widgets.example.com in a: "+tt.err.Error())
			asked, ages, err = nil, nil, nil
			g.after(20 * time.Second)
			if g.reconcile(t) {
				t.Error("held, though proven")
			}
			if diff := cmp.Diff([]freshness.Informer{widgets}, asked); diff != "" {
				t.Errorf("asked again (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]time.Duration{20 * time.Second}, ages); diff != "" {
				t.Errorf("how old the proof may be: as old as the start (-want +got):\n%s", diff)
			}
			g.journal.wantLines(t, `"held"="20s"`)
		})
	}
}

func TestGateAtStartMaxHold(t *testing.T) {
	g := newGated(t, GateOptions{AtStart: true, MaxHold: time.Minute})
	asked := 0
	g.monitor.ensure = func(_ context.Context, of freshness.Informer, _ time.Duration) error {
		if of == configMaps {
			return nil
		}
		asked++
		return errors.New("never")
	}
	if !g.reconcile(t) {
		t.Error("not held")
	}
	g.after(time.Minute)
	if g.reconcile(t) {
		t.Error("held for longer than allowed")
	}
	g.after(time.Minute)
	if g.reconcile(t) || asked != 2 {
		t.Errorf("asked %d times, want 2: a start that was given up is over", asked)
	}
	g.journal.wantLines(t, "are held", "for as long as allowed", "go on")
}

// A controller that stops while it waits leaves neither a reconcile nor a line.
func TestGateAtStartCancelled(t *testing.T) {
	g := newGated(t, GateOptions{AtStart: true})
	ctx, cancel := context.WithCancel(t.Context())
	g.monitor.ensure = func(ctx context.Context, _ freshness.Informer, _ time.Duration) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if res, err := g.Reconcile(ctx, "a"); err != nil || res.RequeueAfter == 0 || len(g.acted) != 0 {
		t.Errorf("result %+v, error %v, reconciled %q; want it held", res, err, g.acted)
	}
	g.journal.wantLines(t)
}

func TestGateOptions(t *testing.T) {
	inner := ctrlreconcile.TypedFunc[string](func(context.Context, string) (ctrlreconcile.Result, error) { return ctrlreconcile.Result{}, nil })
	ok := []freshness.Informer{configMaps}
	tests := []struct {
		name  string
		kinds []freshness.Informer
		opts  GateOptions
		want  string
	}{
		{"zero", ok, GateOptions{}, ""},
		{"shortest", ok, GateOptions{RequeueAfter: time.Second}, ""},
		{"too short", ok, GateOptions{RequeueAfter: time.Second - 1}, "reconcile: GateOptions.RequeueAfter is 999.999999ms, but must be at least 1s (every held request is tried that often)"},
		{"negative hold", ok, GateOptions{MaxHold: -1}, "reconcile: GateOptions.MaxHold is -1ns, but must not be negative"},
		{"closed for ever", ok, GateOptions{Verdicts: []freshness.Verdict{freshness.Fresh}}, "reconcile: GateOptions.Verdicts holds Fresh, which would hold every reconcile"},
		{"no kinds", nil, GateOptions{}, "reconcile: WithGate wants the kinds that the reconciler reads, got none"},
		{"no resource", []freshness.Informer{{Group: "apps"}}, GateOptions{}, "reconcile: WithGate wants kinds with a Resource, such as configmaps, got one of group \"apps\" without"},
		{"twice", []freshness.Informer{configMaps, configMaps}, GateOptions{}, "reconcile: WithGate wants each kind once, got configmaps twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := WithGate(inner, &fakeMonitor{}, tt.kinds, tt.opts)
			if got := text(err); got != tt.want {
				t.Errorf("error %q, want %q", got, tt.want)
			}
		})
	}
	for _, m := range []monitor{nil, &fakeMonitor{}} {
		var none ctrlreconcile.TypedReconciler[string]
		if _, err := WithGate(none, m, ok, GateOptions{}); err == nil {
			t.Error("no error without a reconciler")
		}
	}
	if _, err := WithGate(inner, nil, ok, GateOptions{}); err == nil {
		t.Error("no error without a monitor")
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Held requests do not come back together.
func TestGateSpreadsRequeues(t *testing.T) {
	g := newGated(t, GateOptions{RequeueAfter: time.Minute})
	g.monitor.set(configMaps, freshness.Stalled)
	var least, most time.Duration
	for range 200 {
		res, err := g.Reconcile(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if least == 0 || res.RequeueAfter < least {
			least = res.RequeueAfter
		}
		most = max(most, res.RequeueAfter)
	}
	if least < 48*time.Second || most > 72*time.Second || most-least < 12*time.Second {
		t.Errorf("requeued after %v to %v, want 48s to 72s and much of that", least, most)
	}
	if diff := cmp.Diff([]string(nil), g.acted, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("reconciled (-want +got):\n%s", diff)
	}
}

// A reconcile that waited in vain takes nothing back of what another has proven.
func TestGateAtStartTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated(t, GateOptions{AtStart: true}, configMaps)
		var calls atomic.Int32
		both := make(chan struct{})
		g.monitor.ensure = func(context.Context, freshness.Informer, time.Duration) error {
			if calls.Add(1) == 1 {
				<-both
				return nil
			}
			close(both)
			<-time.After(time.Second)
			return errors.New("too late")
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if _, held := g.gate.admit(t.Context()); held {
					t.Error("held, though proven")
				}
			})
		}
		wg.Wait()
	})
}

// That the gate was open a moment before the first reconcile is no matter.
func TestGateAtStartAfterCollect(t *testing.T) {
	g := newGated(t, GateOptions{AtStart: true}, configMaps)
	g.monitor.ensure = func(context.Context, freshness.Informer, time.Duration) error { return errors.New("never") }
	if got := testutil.ToFloat64(closedOnly{g}); got != 0 {
		t.Errorf("closed %v before the first reconcile, want 0", got)
	}
	if !g.reconcile(t) {
		t.Error("not held")
	}
}
