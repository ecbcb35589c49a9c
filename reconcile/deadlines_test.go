// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/internal/exposition"
)

// fakeManager is what NewDeadlines asks of a manager. Nobody listens at its address.
type fakeManager struct{ timeout time.Duration }

func (*fakeManager) GetConfig() *rest.Config     { return &rest.Config{Host: "http://127.0.0.1:1"} }
func (*fakeManager) GetHTTPClient() *http.Client { return &http.Client{} }
func (m *fakeManager) GetControllerOptions() config.Controller {
	return config.Controller{ReconciliationTimeout: m.timeout}
}

var inDefault = RestartBudgetOptions{Namespace: "default"}

func TestDeadlinesOptions(t *testing.T) {
	tests := []struct {
		name string
		opts DeadlinesOptions
		want string
	}{
		{"in a namespace", DeadlinesOptions{Restarts: inDefault}, ""},
		{"no restarts, so no namespace", DeadlinesOptions{Default: DeadlineOptions{NeverFail: true}}, ""},
		{"outside of a pod", DeadlinesOptions{}, "reconcile: RestartBudgetOptions.Namespace is empty, and this process does not run in a pod: set it to the namespace of the Lease"},
		{"default", DeadlinesOptions{Default: DeadlineOptions{Timeout: 1}, Restarts: inDefault}, "reconcile: DeadlineOptions.Timeout is 1ns, but must be at least 1s and at most 24h0m0s (in DeadlinesOptions.Default)"},
		{"default name", DeadlinesOptions{Default: DeadlineOptions{Name: "x"}, Restarts: inDefault}, `reconcile: DeadlinesOptions.Default.Name is "x", but must be empty: each controller has its own`},
		{"own", DeadlinesOptions{Controllers: map[string]ControllerDeadline{"x": {Grace: -1}}, Restarts: inDefault}, `reconcile: DeadlineOptions.Grace is -1ns, but must be at least 1s and at most 24h0m0s (in DeadlinesOptions.Controllers["x"])`},
		{"restarts", DeadlinesOptions{Restarts: RestartBudgetOptions{Namespace: "default", Restarts: 33}}, "reconcile: RestartBudgetOptions.Restarts is 33, but must be at least 1 and at most 32 (DeadlineOptions.NeverFail has none)"},
		{"window", DeadlinesOptions{Restarts: RestartBudgetOptions{Namespace: "default", Window: 1}}, "reconcile: RestartBudgetOptions.Window is 1ns, but must be at least 1m0s and at most 2160h0m0s"},
		{"window that bounds nothing", DeadlinesOptions{Restarts: RestartBudgetOptions{Namespace: "default", Window: time.Hour}}, "reconcile: RestartBudgetOptions.Window is 1h0m0s, but must be at least 1h3m0s, Restarts (3) times Timeout, Grace and FailAfter, or it bounds nothing"},
		{"lease", DeadlinesOptions{Restarts: RestartBudgetOptions{Namespace: "default", Lease: "A"}}, `reconcile: RestartBudgetOptions.Lease is "A", but must be an object's name: `},
		{"namespace", DeadlinesOptions{Restarts: RestartBudgetOptions{Namespace: "a.b"}}, `reconcile: RestartBudgetOptions.Namespace is "a.b", but must be a namespace's name: `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewDeadlines(&fakeManager{}, tt.opts)
			if got := text(err); (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
				t.Errorf("error %q, want %q", got, tt.want)
			}
		})
	}
	var none *fakeManager
	for _, m := range []Manager{nil, none} {
		if _, err := NewDeadlines(m, DeadlinesOptions{Restarts: inDefault}); err == nil {
			t.Error("no error without a manager")
		}
	}
}

// Each controller has its own, the default, or the manager's ReconciliationTimeout.
func TestDeadlinesOfControllers(t *testing.T) {
	own := map[string]ControllerDeadline{"slow": {Timeout: 5 * time.Hour, NeverFail: true}, "quick": {Grace: 2 * time.Second, FailAfter: 4 * time.Second}}
	const window = 6 * (5*time.Hour + 6*time.Minute) // twice what three restarts of the slow one take
	tests := []struct {
		name, controller string
		manager          time.Duration
		def              DeadlineOptions
		want             ControllerDeadline
		window           time.Duration
	}{
		{"nothing said", "any", 0, DeadlineOptions{}, ControllerDeadline{Timeout: 15 * time.Minute, Grace: time.Minute, FailAfter: 5 * time.Minute}, window},
		{"the manager's", "any", 7 * time.Minute, DeadlineOptions{}, ControllerDeadline{Timeout: 7 * time.Minute, Grace: time.Minute, FailAfter: 5 * time.Minute}, window},
		{"the manager's, which is no use", "any", time.Millisecond, DeadlineOptions{}, ControllerDeadline{Timeout: 15 * time.Minute, Grace: time.Minute, FailAfter: 5 * time.Minute}, window},
		{"the default", "any", 7 * time.Minute, DeadlineOptions{Timeout: time.Minute}, ControllerDeadline{Timeout: time.Minute, Grace: time.Minute, FailAfter: 5 * time.Minute}, window},
		{"its own time", "slow", 7 * time.Minute, DeadlineOptions{}, ControllerDeadline{Timeout: 5 * time.Hour, Grace: time.Minute, FailAfter: 5 * time.Minute, NeverFail: true}, window},
		{"its own rest", "quick", 0, DeadlineOptions{}, ControllerDeadline{Timeout: 15 * time.Minute, Grace: 2 * time.Second, FailAfter: 4 * time.Second}, window},
		{"restarts that are far apart", "any", 0, DeadlineOptions{Timeout: 12 * time.Hour}, ControllerDeadline{Timeout: 12 * time.Hour, Grace: time.Minute, FailAfter: 5 * time.Minute}, 6 * (12*time.Hour + 6*time.Minute)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := NewDeadlines(&fakeManager{tt.manager}, DeadlinesOptions{Default: tt.def, Controllers: own, Restarts: inDefault})
			if err != nil {
				t.Fatal(err)
			}
			o := d.opts.of(tt.controller)
			if diff := cmp.Diff(tt.want, ControllerDeadline{o.Timeout, o.Grace, o.FailAfter, o.NeverFail}); diff != "" || o.Name != tt.controller {
				t.Errorf("name %q, (-want +got):\n%s", o.Name, diff)
			}
			if got := d.budget.opts.Window; got != tt.window {
				t.Errorf("window %v, want %v", got, tt.window)
			}
		})
	}
}

func TestWithDeadlinesErrors(t *testing.T) {
	d, err := NewDeadlines(&fakeManager{}, DeadlinesOptions{Restarts: inDefault})
	if err != nil {
		t.Fatal(err)
	}
	r := reconcileFunc(func(context.Context, string) (ctrlreconcile.Result, error) { return ctrlreconcile.Result{}, nil })
	var none ctrlreconcile.TypedReconciler[string]
	if _, err := WithDeadlines(r, d, "x"); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		what string
		call func() error
		want string
	}{
		{"reconciler", func() error { _, err := WithDeadlines(none, d, "y"); return err }, "reconcile: WithDeadlines wants a reconciler, got nil"},
		{"deadlines", func() error { _, err := WithDeadlines(r, nil, "y"); return err }, "reconcile: WithDeadlines wants Deadlines, got nil"},
		{"name", func() error { _, err := WithDeadlines(r, d, ""); return err }, "reconcile: WithDeadlines wants the name of the controller, got none"},
		{"twice", func() error { _, err := WithDeadlines(r, d, "x"); return err }, `reconcile: Deadlines have a controller "x" already: each needs a name of its own`},
		{"builder", func() error { return Complete(d, "y", nil, r) }, "reconcile: Complete wants a builder, as from ctrl.NewControllerManagedBy, got nil"},
	} {
		if got := text(tt.call()); got != tt.want {
			t.Errorf("%s: error %q, want %q", tt.what, got, tt.want)
		}
	}
}

// A name that no controller has is a mistake that would show months later.
func TestDeadlinesStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := NewDeadlines(&fakeManager{}, DeadlinesOptions{
			Default:     DeadlineOptions{NeverFail: true},
			Controllers: map[string]ControllerDeadline{"widgets": {Timeout: time.Hour}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := reconcileFunc(func(context.Context, string) (ctrlreconcile.Result, error) { return ctrlreconcile.Result{}, nil })
		if _, err := WithDeadlines(r, d, "widget"); err != nil {
			t.Fatal(err)
		}
		want := `reconcile: DeadlinesOptions.Controllers has "widgets", but must name controllers that were made with Complete or WithDeadlines, which are ["widget"]`
		if got := text(d.Start(t.Context())); got != want {
			t.Errorf("error %q, want %q", got, want)
		}
		if _, err := WithDeadlines(r, d, "widgets"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := d.Start(ctx); err != nil {
				t.Error(err)
			}
		})
		cancel()
		wg.Wait()
	})
}

func TestDeadlineMetricsGolden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		var j journal
		alone := newTimed(t, func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(free) }, DeadlineOptions{})
		all, err := NewDeadlines(&fakeManager{}, DeadlinesOptions{Default: DeadlineOptions{
			Timeout: 10 * time.Second, Grace: 2 * time.Second, FailAfter: 3 * time.Second, Logger: j.logger(),
			Budget: budgetFunc(func(context.Context, time.Time) (bool, error) { return false, nil }),
		}})
		if err != nil {
			t.Fatal(err)
		}
		gadgets, err := WithDeadlines(reconcileFunc(func(context.Context, string) (ctrlreconcile.Result, error) { return deaf(free) }), all, "gadgets")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := WithDeadlines(gadgets.inner, all, "idle"); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _, _ = alone.Reconcile(t.Context(), "a") })
			wg.Go(func() { _, _ = gadgets.Reconcile(t.Context(), "a") })
		}
		<-time.After(14 * time.Second)
		wg.Go(func() { _, _ = gadgets.Reconcile(t.Context(), "b") })
		<-time.After(2 * time.Second)
		synctest.Wait()
		exposition.Golden(t, "deadline.golden", alone, all)
		if diff := cmp.Diff([]string{"that of all controllers"}, all.SpentBudgets()); diff != "" {
			t.Errorf("spent budgets (-want +got):\n%s", diff)
		}
		close(free)
		wg.Wait()
		if got := all.SpentBudgets(); got != nil {
			t.Errorf("spent budgets %q, though nothing is wedged", got)
		}
	})
}

// A controller that was forgotten is told of, by controller-runtime's own metric.
func TestDeadlinesSayWhoHasNone(t *testing.T) {
	var j journal
	d, err := NewDeadlines(&fakeManager{}, DeadlinesOptions{Default: DeadlineOptions{NeverFail: true, Logger: j.logger()}})
	if err != nil {
		t.Fatal(err)
	}
	r := reconcileFunc(func(context.Context, string) (ctrlreconcile.Result, error) { return ctrlreconcile.Result{}, nil })
	registry := prometheus.NewRegistry()
	workers := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "controller_runtime_max_concurrent_reconciles", Help: "As controller-runtime has it."}, []string{"controller"})
	registry.MustRegister(workers)
	for _, name := range []string{"widgets", "gadgets"} {
		workers.WithLabelValues(name).Set(1)
		d.sayWhoHasNone(registry)
		if name == "widgets" {
			j.wantLines(t, `"controllers"=["widgets"]`)
		}
		if _, err := WithDeadlines(r, d, name); err != nil {
			t.Fatal(err)
		}
	}
	j.wantLines(t, `"controllers"=["gadgets"]`)
	d.sayWhoHasNone(registry)
	j.wantLines(t)
}

// The budget is told in its own words.
func TestSpentBudgetsSayWhich(t *testing.T) {
	d, err := NewDeadlines(&fakeManager{}, DeadlinesOptions{Restarts: RestartBudgetOptions{Namespace: "operators"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.SpentBudgets(); got != nil {
		t.Errorf("spent budgets %q, though none was asked", got)
	}
	d.asker.exhausted = true
	want := []string{"3 restarts in 24h0m0s, as annotation freshwatch.github.io/wedge-restarts of lease operators/freshwatch-canary has them"}
	if diff := cmp.Diff(want, d.SpentBudgets()); diff != "" {
		t.Errorf("spent budgets (-want +got):\n%s", diff)
	}
}
