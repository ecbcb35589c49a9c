// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientfeatures "k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// noCures leave a stalled informer stalled.
func noCures() freshness.Options {
	return freshness.Options{DisabledCures: []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List, freshness.Reconnect}}
}

func configMap(color string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"color": color}}
}

func secret(content string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, StringData: map[string]string{"content": content}}
}

// painter is a controller that is triggered by Secrets, and acts by the color in a
// ConfigMap, as its cache has it.
type painter struct {
	client client.Client
	mu     sync.Mutex
	seen   []string
}

func (p *painter) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cm corev1.ConfigMap
	if err := p.client.Get(ctx, req.NamespacedName, &cm); err != nil {
		return ctrl.Result{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, cm.Data["color"])
	return ctrl.Result{}, nil
}

// take returns the colors acted by since the last take.
func (p *painter) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// operator runs a painter behind a gate, and the same without one.
type operator struct {
	srv            *freshtest.Server
	monitor        *freshness.Monitor
	gated, ungated *painter
	gate           prometheus.Collector
	priorityQueue  bool
	freshness      freshness.Options
	beforeItStarts func(*freshtest.Server)
	gateOptions    reconcile.GateOptions
}

func (o *operator) start(t *testing.T) {
	t.Helper()
	o.srv = freshtest.Start(t, freshtest.Options{})
	for _, obj := range []client.Object{configMap("red"), secret("1")} {
		if err := o.srv.Create(obj); err != nil {
			t.Fatal(err)
		}
	}
	if o.beforeItStarts != nil {
		o.beforeItStarts(o.srv)
	}
	var err error
	if o.monitor, err = freshness.New(o.freshness); err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(o.srv.Config(), ctrl.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{NewInformer: o.monitor.NewInformer},
		Controller: config.Controller{SkipNameValidation: new(true), UsePriorityQueue: new(o.priorityQueue)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := mgr.Add(o.monitor); err != nil {
		t.Fatal(err)
	}
	if _, err := mgr.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	kinds, err := reconcile.Kinds(mgr.GetClient(), &corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	o.gated, o.ungated = &painter{client: mgr.GetClient()}, &painter{client: mgr.GetClient()}
	gate, err := reconcile.WithGate(o.gated, o.monitor, kinds, o.gateOptions)
	if err != nil {
		t.Fatal(err)
	}
	o.gate = gate
	for name, r := range map[string]ctrlreconcile.Reconciler{"gated": gate, "ungated": o.ungated} {
		if err := ctrl.NewControllerManagedBy(mgr).Named(name).For(&corev1.Secret{}).Complete(r); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}

// pass lets time go by while somebody else writes something.
func (o *operator) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		o.srv.Bump(1)
		time.Sleep(time.Second)
	}
	synctest.Wait()
}

// touch has the Secret reconciled.
func (o *operator) touch(t *testing.T, content string) {
	t.Helper()
	if err := o.srv.Update(secret(content)); err != nil {
		t.Fatal(err)
	}
}

// wantColors fails unless both painters have acted by these colors since they were
// last asked.
func (o *operator) wantColors(t *testing.T, gated, ungated []string) {
	t.Helper()
	if diff := cmp.Diff([][]string{gated, ungated}, [][]string{o.gated.take(), o.ungated.take()}); diff != "" {
		t.Errorf("behind a gate and without one (-want +got):\n%s", diff)
	}
}

// metric is the sum of a gate's series.
func (o *operator) metric(t *testing.T, name string) (sum float64) {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(o.gate); err != nil {
		t.Fatal(err)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "freshwatch_reconcile_gate_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return sum
}

// While what it reads is stale a gated controller does not act, whoever is to
// blame, and its requests are not lost.
func TestGateHoldsWhileStale(t *testing.T) {
	tests := []struct {
		name  string
		fault func(*freshtest.Server) *freshtest.Fault
		want  freshness.Verdict
	}{
		{"stalled", func(s *freshtest.Server) *freshtest.Fault { return s.Stall(configMaps) }, freshness.Stalled},
		{"control plane", func(s *freshtest.Server) *freshtest.Fault { return s.FreezeWatchCache(configMaps) }, freshness.ControlPlaneStalled},
	}
	for _, tt := range tests {
		for _, priorityQueue := range []bool{true, false} {
			t.Run(tt.name+map[bool]string{true: ", priority queue", false: ", plain queue"}[priorityQueue], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := &operator{freshness: noCures(), priorityQueue: priorityQueue}
					o.start(t)
					o.pass(3 * time.Minute)
					o.wantColors(t, []string{"red"}, []string{"red"})

					fault := tt.fault(o.srv)
					if err := o.srv.Update(configMap("blue")); err != nil {
						t.Fatal(err)
					}
					o.pass(4 * time.Minute)
					if st, _ := o.monitor.StatusOf(freshness.Informer{Resource: "configmaps"}); st.Verdict != tt.want {
						t.Fatalf("the verdict is %v, want %v", st.Verdict, tt.want)
					}
					o.touch(t, "2")
					o.pass(3 * time.Minute)
					o.wantColors(t, nil, []string{"red"})
					if closed, requeues := o.metric(t, "closed"), o.metric(t, "requeues_total"); closed != 1 || requeues < 10 || requeues > 16 {
						t.Errorf("closed %v, %v requeues in 3 min; want closed, and one each 15 s", closed, requeues)
					}

					fault.Lift()
					o.pass(2 * time.Minute)
					o.wantColors(t, []string{"blue"}, nil)
					if closed := o.metric(t, "closed"); closed != 0 {
						t.Errorf("closed %v after the fault", closed)
					}
				})
			})
		}
	}
}

// An informer may begin with what an API server had in its cache some time ago. A
// controller with a start gate does not.
func TestGateHoldsAtStart(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, false)
	synctest.Test(t, func(t *testing.T) {
		var frozen *freshtest.Fault
		o := &operator{
			gateOptions: reconcile.GateOptions{AtStart: true},
			beforeItStarts: func(s *freshtest.Server) {
				frozen = s.FreezeWatchCache(configMaps)
				if err := s.Update(configMap("blue")); err != nil {
					t.Fatal(err)
				}
			},
		}
		o.start(t)
		o.pass(20 * time.Second)
		o.wantColors(t, nil, []string{"red"})
		frozen.Lift()
		o.pass(time.Minute)
		o.wantColors(t, []string{"blue"}, nil)
	})
}

// A healthy start costs some seconds, and no requeue.
func TestGateAtHealthyStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &operator{gateOptions: reconcile.GateOptions{AtStart: true}}
		o.start(t)
		o.pass(10 * time.Second)
		o.wantColors(t, []string{"red"}, []string{"red"})
		if requeues := o.metric(t, "requeues_total"); requeues != 0 {
			t.Errorf("%v requeues", requeues)
		}
	})
}

func TestKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		c, err := client.New(srv.Config(), client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		inA := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}}
		got, err := reconcile.Kinds(c, &corev1.ConfigMap{}, inA)
		want := []freshness.Informer{{Resource: "configmaps"}, {Resource: "secrets", Namespace: "a"}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
		if _, err := reconcile.Kinds(c, &corev1.Node{}); err == nil {
			t.Error("no error for a kind that is not served")
		}
		if _, err := reconcile.Kinds(c, &unknown{}); err == nil {
			t.Error("no error for a type that the scheme does not know")
		}
	})
}

type unknown struct{ corev1.ConfigMap }
