// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

const (
	timeout = 2 * time.Second

	// Of an operator that is hasty. Elsewhere they are long enough for a busy machine.
	grace     = time.Second
	failAfter = 2 * time.Second
)

// operator is a manager with controllers of the ConfigMaps in one namespace, and what it
// says.
type operator struct {
	ns        string
	mgr       manager.Manager
	deadlines *reconcile.Deadlines
	registry  *prometheus.Registry
	journal   journal

	cancel context.CancelFunc
	ended  chan struct{}
	err    error // why it has ended
}

// operatorOptions are what a test may change.
type operatorOptions struct {
	ns        string       // defaults to a new one
	config    *rest.Config // defaults to the administrator's
	deadlines reconcile.DeadlinesOptions
	hasty     bool // it tells of what is wedged within seconds
	manager   func(*manager.Options)
}

// newNamespace returns the name of a new namespace. Controllers are named after it, so
// that their metrics, which controller-runtime has for the whole process, are theirs.
func newNamespace(t *testing.T, p *realplane.Plane) string {
	t.Helper()
	ns, err := p.Typed.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "reconciles-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

func newOperator(t *testing.T, p *realplane.Plane, opts operatorOptions) *operator {
	t.Helper()
	if opts.ns == "" {
		opts.ns = newNamespace(t, p)
	}
	if opts.config == nil {
		opts.config = p.Config()
	}
	o := &operator{ns: opts.ns, registry: prometheus.NewRegistry(), ended: make(chan struct{})}
	mo := manager.Options{
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{o.ns: {}}},
		Controller:              config.Controller{SkipNameValidation: new(true)},
		GracefulShutdownTimeout: new(patience),
		Logger:                  o.journal.logger(),
	}
	if opts.manager != nil {
		opts.manager(&mo)
	}
	var err error
	if o.mgr, err = ctrl.NewManager(opts.config, mo); err != nil {
		t.Fatal(err)
	}
	// What it takes to start and to end, after all that a test does to it.
	t.Cleanup(o.mgr.GetHTTPClient().CloseIdleConnections)
	d := &opts.deadlines
	d.Restarts.Namespace = o.ns
	d.Default.Logger = o.journal.logger()
	d.Default.Grace, d.Default.FailAfter = patience, patience
	if opts.hasty {
		d.Default.Grace, d.Default.FailAfter = grace, failAfter
	}
	if d.Default.Timeout == 0 && mo.Controller.ReconciliationTimeout == 0 {
		d.Default.Timeout = timeout
	}
	if o.deadlines, err = reconcile.NewDeadlines(o.mgr, *d); err != nil {
		t.Fatal(err)
	}
	if err := o.mgr.Add(o.deadlines); err != nil {
		t.Fatal(err)
	}
	return o
}

// add makes a controller whose reconciles have a deadline.
func (o *operator) add(t *testing.T, role string, opts controller.Options, act act) *worker {
	t.Helper()
	w := newWorker(o, role, act)
	b := ctrl.NewControllerManagedBy(o.mgr).For(&corev1.ConfigMap{}).WithOptions(opts)
	if err := reconcile.Complete(o.deadlines, w.controller, b, w); err != nil {
		t.Fatal(err)
	}
	return w
}

// addWithoutDeadline makes one whose reconciles have none: the negative control.
func (o *operator) addWithoutDeadline(t *testing.T, role string, opts controller.Options, act act) *worker {
	t.Helper()
	w := newWorker(o, role, act)
	if err := ctrl.NewControllerManagedBy(o.mgr).For(&corev1.ConfigMap{}).WithOptions(opts).Named(w.controller).Complete(w); err != nil {
		t.Fatal(err)
	}
	return w
}

func workers(n int) controller.Options { return controller.Options{MaxConcurrentReconciles: n} }

// start runs the manager until the test ends.
func (o *operator) start(t *testing.T) {
	t.Helper()
	if err := o.registry.Register(o.deadlines); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	o.cancel = cancel
	go func() {
		defer close(o.ended)
		o.err = o.mgr.Start(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-o.ended
	})
}

// elected waits until its controllers run.
func (o *operator) elected(t *testing.T) {
	t.Helper()
	await(t, patience, "elected", func() bool {
		select {
		case <-o.mgr.Elected():
			return true
		default:
			return false
		}
	})
}

// own returns a metric of package reconcile for a controller.
func (o *operator) own(t *testing.T, name, of string) float64 {
	t.Helper()
	return metric(t, o.registry, "freshwatch_reconcile_"+name, of)
}

// theirs returns a metric of controller-runtime for a controller.
func theirs(t *testing.T, name, of string) float64 {
	t.Helper()
	return metric(t, ctrlmetrics.Registry, name, of)
}

// metric returns the sum of a metric's series for a controller.
func metric(t *testing.T, from prometheus.Gatherer, name, of string) float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum, found := 0.0, false
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "controller" && l.GetValue() == of {
					sum, found = sum+m.GetCounter().GetValue()+m.GetGauge().GetValue(), true
				}
			}
		}
	}
	if !found {
		t.Errorf("no metric %s of the controller %q", name, of)
	}
	return sum
}

// wantIdle fails unless nothing runs any more, and the check passes.
func (o *operator) wantIdle(t *testing.T) {
	t.Helper()
	if !until(t, func() bool { return len(o.deadlines.InFlight()) == 0 && o.deadlines.Check(nil) == nil }) {
		t.Errorf("in flight %s, check %v", fmt.Sprint(o.deadlines.InFlight()), o.deadlines.Check(nil))
	}
}
