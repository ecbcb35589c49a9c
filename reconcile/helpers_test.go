// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	clocktesting "k8s.io/utils/clock/testing"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/freshness"
)

var (
	configMaps = freshness.Informer{Resource: "configmaps"}
	widgets    = freshness.Informer{Group: "example.com", Resource: "widgets", Namespace: "a"}
)

// fakeMonitor says what a test wants it to.
type fakeMonitor struct {
	mu       sync.Mutex
	verdicts map[freshness.Informer]freshness.Verdict // others are not monitored
	asked    int
	ensure   func(ctx context.Context, of freshness.Informer, maxAge time.Duration) error
}

func (m *fakeMonitor) set(of freshness.Informer, v freshness.Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.verdicts[of] = v
}

func (m *fakeMonitor) StatusOf(of freshness.Informer) (freshness.Status, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	v, found := m.verdicts[of]
	return freshness.Status{Informer: of, Verdict: v, Reason: "because"}, found
}

func (m *fakeMonitor) EnsureFresh(ctx context.Context, of freshness.Informer, maxAge time.Duration) error {
	return m.ensure(ctx, of, maxAge)
}

// journal is a logger that keeps its lines.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.lines = append(j.lines, args)
	}, funcr.Options{})
}

// take returns the lines since the last take.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// wantLines fails unless there is one line for each of the given texts, which it
// contains.
func (j *journal) wantLines(t *testing.T, want ...string) {
	t.Helper()
	got := j.take()
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d: %q", len(got), len(want), got)
		return
	}
	for i, text := range want {
		if !strings.Contains(got[i], text) {
			t.Errorf("line %q, want it to contain %q", got[i], text)
		}
	}
}

// gated is a reconciler behind a gate, and all that it stands on.
type gated struct {
	*Gate[string]
	clock   *clocktesting.FakePassiveClock
	monitor *fakeMonitor
	journal journal
	acted   []string // requests that reached the reconciler
	result  ctrlreconcile.Result
	err     error
}

func newGated(t *testing.T, opts GateOptions, kinds ...freshness.Informer) *gated {
	t.Helper()
	g := &gated{
		clock:   clocktesting.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		monitor: &fakeMonitor{verdicts: map[freshness.Informer]freshness.Verdict{configMaps: freshness.Fresh, widgets: freshness.Fresh}},
	}
	opts.Clock, opts.Logger = g.clock, g.journal.logger()
	inner := ctrlreconcile.TypedFunc[string](func(_ context.Context, req string) (ctrlreconcile.Result, error) {
		g.acted = append(g.acted, req)
		return g.result, g.err
	})
	if len(kinds) == 0 {
		kinds = []freshness.Informer{configMaps, widgets}
	}
	var err error
	if g.Gate, err = WithGate(inner, g.monitor, kinds, opts); err != nil {
		t.Fatal(err)
	}
	return g
}

// after moves the clock.
func (g *gated) after(d time.Duration) { g.clock.SetTime(g.clock.Now().Add(d)) }

// reconcile makes a request and tells whether it was held.
func (g *gated) reconcile(t *testing.T) (held bool) {
	t.Helper()
	before := len(g.acted)
	res, err := g.Reconcile(t.Context(), "a")
	if held = len(g.acted) == before; !held {
		return false
	}
	if want := g.gate.opts.RequeueAfter; err != nil || res.RequeueAfter < want*4/5 || res.RequeueAfter > want*6/5 || res.Priority != nil {
		t.Errorf("held with %+v, %v; want a requeue after %v, give or take a fifth, and nothing else", res, err, want)
	}
	return true
}
