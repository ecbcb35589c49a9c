// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/freshness"
)

// openGate returns a reconciler behind an open gate on the real clock and monitor.
func openGate(tb testing.TB) *Gate[ctrl.Request] {
	tb.Helper()
	monitor, err := freshness.New(freshness.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	lw := monitor.WrapListerWatcher(&cache.ListWatch{})
	if err := monitor.Track(cache.NewSharedIndexInformer(lw, nil, 0, cache.Indexers{}), lw, configMaps); err != nil {
		tb.Fatal(err)
	}
	nop := ctrlreconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil })
	g, err := WithGate(nop, monitor, []freshness.Informer{configMaps}, GateOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func TestOpenGateAllocatesNothing(t *testing.T) {
	g, ctx := openGate(t), t.Context()
	// Between two looks at the monitor, however slow the machine.
	g.gate.look(g.gate.opts.Clock.Now())
	g.gate.looked = time.Now().Add(time.Hour)
	if got := testing.AllocsPerRun(100, func() { _, _ = g.Reconcile(ctx, ctrl.Request{}) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func BenchmarkOpenGate(b *testing.B) {
	g, ctx := openGate(b), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = g.Reconcile(ctx, ctrl.Request{})
	}
}

func BenchmarkOpenGateParallel(b *testing.B) {
	g, ctx := openGate(b), b.Context()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _ = g.Reconcile(ctx, ctrl.Request{})
		}
	})
}
