// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Manager is what NewDeadlines asks of a manager.Manager.
type Manager interface {
	clientSource
	GetControllerOptions() config.Controller
}

// Deadlines gives the controllers of a manager one set of deadlines, one check and one
// budget of restarts. Make it with NewDeadlines, and each controller with Complete, or
// WithDeadlines. It is a manager.Runnable, a prometheus.Collector, its Check is a
// healthz.Checker, and all methods are safe for concurrent use.
type Deadlines struct {
	opts   DeadlinesOptions
	budget *RestartBudget // nil: somebody else's, or none
	asker  *asker
	descs  restartDescs

	mu          sync.Mutex
	controllers map[string]watched
}

// watched is a watch, whatever its requests are.
type watched interface {
	describe(ch chan<- *prometheus.Desc)
	collect(ch chan<- prometheus.Metric)
	snapshot() []InFlight
}

// NewDeadlines returns Deadlines for the controllers of mgr. Where mgr has a
// ReconciliationTimeout for all controllers, that is the default of Timeout. It fails if
// an option is out of range, naming it, its value and the rule, and sends nothing.
func NewDeadlines(mgr Manager, opts DeadlinesOptions) (*Deadlines, error) {
	if isNil(mgr) {
		return nil, errors.New("reconcile: NewDeadlines wants a manager, got nil")
	}
	if all := mgr.GetControllerOptions().ReconciliationTimeout; opts.Default.Timeout == 0 && all >= minTimeout && all <= maxTimeout {
		opts.Default.Timeout = all
	}
	d := &Deadlines{controllers: map[string]watched{}, descs: newRestartDescs("")}
	var err error
	if d.opts, err = opts.withDefaults(); err != nil {
		return nil, err
	}
	if d.opts.Default.Budget == nil && !d.opts.Default.NeverFail {
		if d.budget, err = NewRestartBudget(mgr, d.opts.Restarts); err != nil {
			return nil, err
		}
		d.opts.Default.Budget = d.budget
	}
	d.asker = newAsker(d.opts.Default)
	return d, nil
}

// WithDeadlines returns inner with the deadline that d has for the controller of that
// name, which has to be the one it runs under.
//
// The error says that the name is empty, or was used before.
func WithDeadlines[request comparable](inner ctrlreconcile.TypedReconciler[request], d *Deadlines, name string) (*Deadline[request], error) {
	switch {
	case inner == nil:
		return nil, errors.New("reconcile: WithDeadlines wants a reconciler, got nil")
	case d == nil:
		return nil, errors.New("reconcile: WithDeadlines wants Deadlines, got nil")
	case name == "":
		return nil, errors.New("reconcile: WithDeadlines wants the name of the controller, got none")
	}
	w := newWatch[request](d.opts.of(name), d.asker)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, twice := d.controllers[name]; twice {
		return nil, fmt.Errorf("reconcile: Deadlines have a controller %q already: each needs a name of its own", name)
	}
	d.controllers[name] = w
	return &Deadline[request]{inner: inner, watch: w}, nil
}

// Complete makes a controller of that name, whose reconciles have d's deadline: it is
// b.Named(name).Complete(r) with r in WithDeadlines. A name that b was given before is
// replaced.
func Complete[request comparable](d *Deadlines, name string, b *builder.TypedBuilder[request], r ctrlreconcile.TypedReconciler[request]) error {
	if b == nil {
		return errors.New("reconcile: Complete wants a builder, as from ctrl.NewControllerManagedBy, got nil")
	}
	limited, err := WithDeadlines(r, d, name)
	if err != nil {
		return err
	}
	return b.Named(name).Complete(limited)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (d *Deadlines) NeedLeaderElection() bool { return true }

// Start tells what is wrong with the set-up before it matters: it fails if
// DeadlinesOptions.Controllers names a controller that does not exist, and logs which
// rights on the Lease are missing, and, after a minute, which controllers of the process
// have no deadline. Then it waits until ctx ends. Without it, everything else works.
func (d *Deadlines) Start(ctx context.Context) error {
	d.mu.Lock()
	names := slices.Sorted(maps.Keys(d.controllers))
	d.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.opts.Controllers)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("reconcile: DeadlinesOptions.Controllers has %q, but must name controllers that were made with Complete or WithDeadlines, which are %q", name, names)
		}
	}
	if d.budget != nil {
		d.review(ctx)
	}
	timer := d.opts.Default.Clock.NewTimer(startedWithin)
	defer timer.Stop()
	select {
	case <-timer.C():
		d.sayWhoHasNone(metrics.Registry)
	case <-ctx.Done():
	}
	<-ctx.Done()
	return nil
}

// startedWithin is how long controllers may take to start.
const startedWithin = time.Minute

// sayWhoHasNone logs the controllers of this process that were forgotten. They are known by
// a metric of controller-runtime, since a manager does not tell.
func (d *Deadlines) sayWhoHasNone(from prometheus.Gatherer) {
	families, _ := from.Gather() // what there is of it
	var names []string
	for _, family := range families {
		if family.GetName() != "controller_runtime_max_concurrent_reconciles" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if name := label.GetValue(); label.GetName() == "controller" && !d.has(name) {
					names = append(names, name)
				}
			}
		}
	}
	if len(names) > 0 {
		d.opts.Default.Logger.Info("Controllers without a deadline: make them with Complete or WithDeadlines, unless that is as it should be", "controllers", names)
	}
}

func (d *Deadlines) has(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, has := d.controllers[name]
	return has
}

// review logs which rights are missing. That they could not be asked for is no matter:
// whether the Lease can be written shows when it has to be.
func (d *Deadlines) review(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if rules, err := d.budget.missing(ctx); err == nil && rules != "" {
		d.opts.Default.Logger.Error(nil, "Restarts could not be noted, and so none would be asked for", "reason", rules)
	}
}

// Check is as Deadline.Check, for all controllers.
func (d *Deadlines) Check(*http.Request) error { return d.asker.check() }

// InFlight returns the reconciles that run in all controllers, the oldest first.
func (d *Deadlines) InFlight() []InFlight {
	var out []InFlight
	for _, w := range d.watched() {
		out = append(out, w.snapshot()...)
	}
	slices.SortFunc(out, oldestFirst)
	return out
}

func (d *Deadlines) watched() []watched {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.controllers))
}

// Describe implements prometheus.Collector. A pedantic registry has to be given d after
// its controllers were made.
func (d *Deadlines) Describe(ch chan<- *prometheus.Desc) {
	d.descs.describe(ch)
	for _, w := range d.watched() {
		w.describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (d *Deadlines) Collect(ch chan<- prometheus.Metric) {
	d.descs.collect(d.asker, ch)
	for _, w := range d.watched() {
		w.collect(ch)
	}
}
