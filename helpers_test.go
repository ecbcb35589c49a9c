// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// place is where Leases of tests are, and the ID of their leader election.
const place, electionID = "operators", "pods.example.com"

// managerOptions are those of an operator in a test, which has no servers: a real
// listener stops a bubble's time.
func managerOptions() ctrl.Options {
	return ctrl.Options{
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Controller:              config.Controller{SkipNameValidation: new(true)},
		LeaderElectionNamespace: place,
		LeaderElectionID:        electionID,
		GracefulShutdownTimeout: new(5 * time.Minute),
	}
}

// recording is a manager that remembers what it is given.
type recording struct {
	ctrl.Manager
	runnables []string
	checks    map[string]healthz.Checker
	ready     []string
}

func (r *recording) Add(run manager.Runnable) error {
	name := fmt.Sprintf("%T", run)
	if early, ok := run.(*withCaches); ok {
		name = fmt.Sprintf("with the caches: %T", early.Runnable)
	}
	r.runnables = append(r.runnables, name)
	return r.Manager.Add(run)
}

func (r *recording) AddHealthzCheck(name string, check healthz.Checker) error {
	r.checks[name] = check
	return r.Manager.AddHealthzCheck(name, check)
}

func (r *recording) AddReadyzCheck(name string, check healthz.Checker) error {
	r.ready = append(r.ready, name)
	return r.Manager.AddReadyzCheck(name, check)
}

// guarded is an operator made by the three calls, with all that its manager and its
// registry were given.
type guarded struct {
	*recording
	guard    *Guard
	registry *prometheus.Registry
	options  ctrl.Options // as prepared
	lines    *lines
}

// newGuarded makes one that talks to cfg's server.
func newGuarded(t *testing.T, cfg *rest.Config, o Options) *guarded {
	t.Helper()
	g := &guarded{registry: prometheus.NewRegistry(), options: managerOptions(), lines: &lines{}}
	o.Registerer, o.Logger = g.registry, g.lines.logger()
	var err error
	if g.guard, err = New(o); err != nil {
		t.Fatal(err)
	}
	if err := g.guard.PrepareConfig(cfg); err != nil {
		t.Fatal(err)
	}
	if err := g.guard.PrepareManager(&g.options); err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(cfg, g.options)
	if err != nil {
		t.Fatal(err)
	}
	g.recording = &recording{Manager: mgr, checks: map[string]healthz.Checker{}}
	if err := g.guard.AddTo(g.recording); err != nil {
		t.Fatal(err)
	}
	return g
}

// families are the names of the metrics that the registry has now.
func (g *guarded) families(t *testing.T) (names []string) {
	t.Helper()
	families, err := g.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		names = append(names, f.GetName())
	}
	return names
}

// subsystems are what comes after freshwatch_ in those names.
func (g *guarded) subsystems(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	for _, name := range g.families(t) {
		found[strings.Split(name, "_")[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// run runs a manager until the end of the test. The server goes first, so that nothing
// waits for an answer then.
func run(t *testing.T, srv *freshtest.Server, mgr manager.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			t.Errorf("the manager stopped with %v", err)
		}
	})
	t.Cleanup(func() {
		srv.Close()
		cancel()
		wg.Wait()
	})
}

// verdictOf returns the verdict on the only informer of a resource.
func verdictOf(t *testing.T, m *freshness.Monitor, resource string) (freshness.Verdict, string) {
	t.Helper()
	for _, st := range m.Status() {
		if st.Informer.Resource == resource {
			return st.Verdict, st.Reason
		}
	}
	t.Errorf("no informer of %s is monitored", resource)
	return freshness.Blind, ""
}

// lines are those of a log.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.text = append(l.text, prefix+": "+args)
	}, funcr.Options{})
}

// with returns those that contain a text.
func (l *lines) with(text string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.text {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out
}

// noPod is a file that is not there.
func noPod(t *testing.T) string { return filepath.Join(t.TempDir(), "namespace") }
