// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// controller-runtime's own ReconciliationTimeout beside the deadline: the earlier of the
// two counts, each is counted where it always was, and nothing twice. A reconcile that
// was cut off fails, though it returns no error.
func TestReconciliationTimeout(t *testing.T) {
	realplane.Test(t)
	const short, long = time.Second, time.Minute
	for _, tt := range []struct {
		name       string
		managers   time.Duration // of all controllers
		controller time.Duration // of this one
		deadline   time.Duration // 0: as the manager's
		theirs     bool          // the earlier one is controller-runtime's
	}{
		{"the manager's, which is the default", short, 0, 0, true},
		{"the controller's, shorter", 0, short, long, true},
		{"the controller's, longer", 0, long, short, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := sharedPlane.Get(t)
			opts := operatorOptions{manager: func(m *manager.Options) { m.Controller.ReconciliationTimeout = tt.managers }}
			opts.deadlines.Default.Timeout = tt.deadline
			o := newOperator(t, p, opts)
			w := o.add(t, "timeouts", controller.Options{ReconciliationTimeout: tt.controller}, func(ctx context.Context, _ *corev1.ConfigMap) error {
				<-ctx.Done()
				return nil
			})
			o.start(t)
			edit(t.Context(), t, p, o.ns, stuck, "first")
			const times = 4
			await(t, patience, "overruns", func() bool { return len(w.returned()) >= times })
			o.cancel()
			<-o.ended

			cut := w.returned()
			overruns := 0.0
			for _, a := range cut {
				if !errors.Is(a.cause, context.Canceled) { // but for one that the end of the manager has met
					overruns++
				}
			}
			want := map[string]float64{"errors": overruns, "timeouts": 0}
			if tt.theirs {
				want["timeouts"] = overruns
			}
			got := map[string]float64{
				"errors":   float64(len(o.journal.overruns(w.controller))),
				"timeouts": theirs(t, "controller_runtime_reconcile_timeouts_total", w.controller),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("counted of %v reconciles that were cut off (-want +got):\n%s", overruns, diff)
			}
			o.wantCounts(t, w.controller, map[string]float64{"deadline_overruns_total": overruns, "wedges_total": 0})
			if got := theirs(t, "controller_runtime_reconcile_errors_total", w.controller); got != overruns {
				t.Errorf("controller-runtime counts %v errors, want %v", got, overruns)
			}
			for _, over := range o.journal.overruns(w.controller) {
				if over.Limit > short || over.Limit < short/2 { // what was left of it when the reconcile began
					t.Errorf("the limit is %v, want %v", over.Limit, short)
				}
			}
			figures(t, map[string]any{"cutOffAfter": cut[0].took(), "reconciles": overruns, "counted": got, "cause": cut[0].cause.Error()})
		})
	}
}
