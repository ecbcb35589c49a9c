// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package facade

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

const (
	patience   = time.Minute
	electionID = "pods.example.com"
	debug      = "/debug/freshwatch"
)

// complete makes a controller.
type complete func(name string, b *builder.Builder, r ctrlreconcile.Reconciler) error

// ways are those to a guarded operator.
var ways = map[string]func(*rest.Config, ctrl.Options, *prometheus.Registry) (ctrl.Manager, complete, error){
	"NewManager": func(cfg *rest.Config, o ctrl.Options, r *prometheus.Registry) (ctrl.Manager, complete, error) {
		mgr, err := freshwatch.NewManager(cfg, o, freshwatch.Options{Registerer: r})
		return mgr, completeBy(mgr), err
	},
	"three calls": func(cfg *rest.Config, o ctrl.Options, r *prometheus.Registry) (ctrl.Manager, complete, error) {
		g, err := freshwatch.New(freshwatch.Options{Registerer: r})
		if err != nil {
			return nil, nil, err
		}
		if err := g.PrepareConfig(cfg); err != nil {
			return nil, nil, err
		}
		if err := g.PrepareManager(&o); err != nil {
			return nil, nil, err
		}
		mgr, err := ctrl.NewManager(cfg, o)
		if err != nil {
			return nil, nil, err
		}
		return mgr, completeBy(&freshwatch.Manager{Manager: mgr, Guard: g}), g.AddTo(mgr)
	},
	"the long way": func(cfg *rest.Config, o ctrl.Options, r *prometheus.Registry) (ctrl.Manager, complete, error) {
		mgr, deadlines, err := theLongWay(cfg, o, r)
		return mgr, func(name string, b *builder.Builder, r ctrlreconcile.Reconciler) error {
			return reconcile.Complete(deadlines, name, b, r)
		}, err
	},
	"stock": func(cfg *rest.Config, o ctrl.Options, _ *prometheus.Registry) (ctrl.Manager, complete, error) {
		mgr, err := ctrl.NewManager(cfg, o)
		return mgr, func(name string, b *builder.Builder, r ctrlreconcile.Reconciler) error {
			return b.Named(name).Complete(r)
		}, err
	},
}

func completeBy(mgr *freshwatch.Manager) complete {
	return func(name string, b *builder.Builder, r ctrlreconcile.Reconciler) error {
		return freshwatch.Complete(mgr, name, b, r)
	}
}

// operator is one that runs, with a namespace of its own.
type operator struct {
	namespace       string
	probes, metrics string // addresses
	registry        *prometheus.Registry
	reconciled      chan bool // each reconcile: whether it had a deadline
}

// start runs an operator until the end of the test.
func start(t *testing.T, p *realplane.Plane, way func(*rest.Config, ctrl.Options, *prometheus.Registry) (ctrl.Manager, complete, error)) *operator {
	t.Helper()
	ns, err := p.Typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "facade-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Typed.CoreV1().ConfigMaps(ns.Name).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o := &operator{
		namespace: ns.Name, probes: freeAddress(t), metrics: freeAddress(t), registry: prometheus.NewRegistry(), reconciled: make(chan bool, 100),
	}
	mgr, complete, err := way(rest.CopyConfig(p.Config()), ctrl.Options{
		HealthProbeBindAddress:        o.probes,
		Metrics:                       metricsserver.Options{BindAddress: o.metrics},
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{o.namespace: {}}},
		Controller:                    config.Controller{SkipNameValidation: new(true)},
		LeaderElection:                true,
		LeaderElectionReleaseOnCancel: true,
		LeaderElectionID:              electionID,
		LeaderElectionNamespace:       o.namespace,
	}, o.registry)
	if err != nil {
		t.Fatal(err)
	}
	err = complete("configmaps", ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}), ctrlreconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
		_, limited := ctx.Deadline()
		o.reconciled <- limited
		return ctrl.Result{}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			t.Errorf("the manager stopped with %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		mgr.GetHTTPClient().CloseIdleConnections()
	})
	return o
}

// freeAddress returns a local one below the ports that clients are given.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(15000+rand.IntN(17000)))
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}

// families returns the names of the series, with those of their labels.
func (o *operator) families(t *testing.T) (out []string) {
	t.Helper()
	families, err := o.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		labels := map[string]bool{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = true
			}
		}
		name := f.GetName()
		for _, l := range slices.Sorted(maps.Keys(labels)) {
			name += " " + l
		}
		out = append(out, name)
	}
	return out
}

// get returns what is served at an address; 0: nothing.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// checks returns the names of the checks behind a probe.
func (o *operator) checks(t *testing.T, path string) (names []string) {
	t.Helper()
	status, body := get(t, "http://"+o.probes+path+"?verbose")
	if status != http.StatusOK {
		t.Errorf("%s: %d %s", path, status, body)
	}
	for _, m := range regexp.MustCompile(`(?m)^\[.\](\S+) `).FindAllStringSubmatch(body, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// page is what the page knows.
type page struct {
	Healthy   bool
	Informers []struct {
		Name, Verdict string
		FreshAsOf     time.Time
	}
	Canary struct{ State string }
	Log    []struct{ What string }
}

// proven counts the informers that have been proven fresh, which have all their series.
func (p page) proven() int {
	n := 0
	for _, i := range p.Informers {
		if !i.FreshAsOf.IsZero() {
			n++
		}
	}
	return n
}

func (o *operator) page(t *testing.T) (p page, served bool) {
	t.Helper()
	status, body := get(t, "http://"+o.metrics+debug+"?format=json")
	if status != http.StatusOK {
		return p, false
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	return p, true
}

// await waits until the operator works, and, where it is guarded, each guard says that all
// is well.
func (o *operator) await(t *testing.T, guarded bool) {
	t.Helper()
	var limited bool
	select {
	case limited = <-o.reconciled:
	case <-time.After(patience):
		t.Fatal("nothing is reconciled")
	}
	if limited != guarded {
		t.Errorf("a reconcile has a deadline: %v, want %v", limited, guarded)
	}
	if !guarded {
		return
	}
	if !poll.Until(t.Context(), 2*patience, func() bool {
		p, _ := o.page(t)
		return p.Healthy && p.proven() == 2 && p.Canary.State == "Fresh"
	}) {
		p, _ := o.page(t)
		t.Fatalf("not all is well: %+v", p)
	}
}
