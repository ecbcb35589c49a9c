// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// steps are what is done to a Guard.
type steps struct {
	t    *testing.T
	g    *Guard
	cfg  *rest.Config
	opts ctrl.Options
}

func (s *steps) config() error  { return s.g.PrepareConfig(s.cfg) }
func (s *steps) manager() error { return s.g.PrepareManager(&s.opts) }
func (s *steps) add() error     { return s.addMade(s.cfg, s.opts) }

// addMade adds a manager that was made from these.
func (s *steps) addMade(cfg *rest.Config, o ctrl.Options) error {
	s.t.Helper()
	mgr, err := ctrl.NewManager(cfg, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.g.AddTo(mgr)
}

// What is called out of order, twice, or with something else than was prepared is told.
func TestOrder(t *testing.T) {
	tests := []struct {
		name string
		do   func(s *steps) error
		want string
	}{
		{"in order", func(s *steps) error { return errors.Join(s.config(), s.manager(), s.add()) }, ""},
		{"options before the config", func(s *steps) error { return errors.Join(s.manager(), s.config(), s.add()) }, ""},
		{"config twice", func(s *steps) error { return errors.Join(s.config(), s.config()) }, "PrepareConfig was called before"},
		{"nil config", func(s *steps) error { return s.g.PrepareConfig(nil) }, "the *rest.Config is nil"},
		{"manager twice", func(s *steps) error { return errors.Join(s.manager(), s.manager()) }, "PrepareManager was called before"},
		{"nil options", func(s *steps) error { return s.g.PrepareManager(nil) }, "wants the ctrl.Options of a manager, got nil"},
		{"added without options", func(s *steps) error { return errors.Join(s.config(), s.add()) }, "AddTo was called before PrepareConfig or PrepareManager"},
		{"added without config", func(s *steps) error { return errors.Join(s.manager(), s.add()) }, "AddTo was called before PrepareConfig or PrepareManager"},
		{"added twice", func(s *steps) error { return errors.Join(s.config(), s.manager(), s.add(), s.add()) }, "AddTo was called before: "},
		{"added to nil", func(s *steps) error { return errors.Join(s.config(), s.manager(), s.g.AddTo(nil)) }, "AddTo wants a manager, got nil"},
		{"manager of another config", func(s *steps) error {
			other := rest.CopyConfig(s.cfg)
			return errors.Join(s.config(), s.manager(), s.addMade(other, s.opts))
		}, "made from the config that PrepareConfig was given"},
		{"manager of other options", func(s *steps) error {
			return errors.Join(s.config(), s.manager(), s.addMade(s.cfg, managerOptions()))
		}, "made from the options that PrepareManager was given"},
		{"NewInformer is taken", func(s *steps) error {
			s.opts.Cache.NewInformer = s.g.Monitor().NewInformer
			return s.manager()
		}, "ctrl.Options.Cache.NewInformer is set"},
		{"path is taken", func(s *steps) error {
			s.opts.Metrics.ExtraHandlers = map[string]http.Handler{DefaultDebugPath: http.NotFoundHandler()}
			return s.manager()
		}, `has "/debug/freshwatch" already`},
		{"registry is taken", func(s *steps) error {
			s.g.opts.Registerer.MustRegister(s.g.Monitor())
			return errors.Join(s.config(), s.manager(), s.add())
		}, "freshwatch: freshness: duplicate metrics collector"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := prometheus.NewRegistry()
				g, err := New(Options{Registerer: registry})
				if err != nil {
					t.Fatal(err)
				}
				s := &steps{t: t, g: g, cfg: freshtest.Start(t, freshtest.Options{}).Config(), opts: managerOptions()}
				err = tt.do(s)
				if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
			})
		})
	}
}

// What PrepareManager refuses it leaves as it was, and it shares no map with the program.
func TestPrepareManagerChangesNoMore(t *testing.T) {
	g, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	handlers := map[string]http.Handler{DefaultDebugPath: http.NotFoundHandler()}
	o := ctrl.Options{}
	o.Metrics.ExtraHandlers = handlers
	if err := g.PrepareManager(&o); err == nil || o.Cache.NewInformer != nil || o.NewClient != nil || len(o.Metrics.ExtraHandlers) != 1 {
		t.Errorf("%v, and the options are %+v", err, o)
	}
	delete(handlers, DefaultDebugPath)
	handlers["/debug/other"] = http.NotFoundHandler()
	if err := g.PrepareManager(&o); err != nil || len(handlers) != 1 || len(o.Metrics.ExtraHandlers) != 2 {
		t.Errorf("%v; the program's handlers are %v, the manager's %v", err, handlers, o.Metrics.ExtraHandlers)
	}
}

// A client of the program's own stays, with a monitor that knows what it writes.
func TestOwnNewClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := New(Options{Registerer: prometheus.NewRegistry()})
		if err != nil {
			t.Fatal(err)
		}
		made, refusal := 0, errors.New("refused")
		opts := managerOptions()
		opts.NewClient = func(cfg *rest.Config, o client.Options) (client.Client, error) {
			if made++; made == 1 {
				return nil, refusal
			}
			return client.New(cfg, o)
		}
		cfg := freshtest.Start(t, freshtest.Options{}).Config()
		if err := errors.Join(g.PrepareConfig(cfg), g.PrepareManager(&opts)); err != nil {
			t.Fatal(err)
		}
		if _, err := ctrl.NewManager(cfg, opts); !errors.Is(err, refusal) {
			t.Errorf("%v, want the error of the program's own", err)
		}
		mgr, err := ctrl.NewManager(cfg, opts)
		if err != nil || made != 2 {
			t.Fatalf("%v, %d clients", err, made)
		}
		if err := g.AddTo(mgr); err != nil {
			t.Error(err)
		}
	})
}

// After an AddTo that failed, no series are left.
func TestAddToLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		opts, cfg := managerOptions(), freshtest.Start(t, freshtest.Options{}).Config()
		g, err := New(Options{Registerer: registry})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(g.PrepareConfig(cfg), g.PrepareManager(&opts)); err != nil {
			t.Fatal(err)
		}
		mgr, err := ctrl.NewManager(cfg, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.AddTo(&full{mgr}); !errors.Is(err, errFull) {
			t.Errorf("AddTo: %v", err)
		}
		if families, err := registry.Gather(); err != nil || len(families) != 0 {
			t.Errorf("%v; the registry has %v", err, families)
		}
	})
}

var errFull = errors.New("no room")

// full is a manager that takes no check.
type full struct{ manager.Manager }

func (*full) AddHealthzCheck(string, healthz.Checker) error { return errFull }

// Complete says what it wants.
func TestCompleteRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mgr, err := ctrl.NewManager(freshtest.Start(t, freshtest.Options{}).Config(), managerOptions())
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		nothing := ctrlreconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil })
		pods := ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{})
		for want, tt := range map[string]struct {
			mgr ctrl.Manager
			b   *builder.Builder
		}{
			"wants the *freshwatch.Manager that NewManager returns, got a *manager.controllerManager": {mgr, pods},
			"got a *freshwatch.Manager":              {&Manager{Manager: mgr}, pods},
			"got a <nil>":                            {nil, pods},
			"wants a builder":                        {&Manager{Manager: mgr, Guard: g}, nil},
			"Complete was called before Guard.AddTo": {&Manager{Manager: mgr, Guard: g}, pods},
		} {
			if err := Complete(tt.mgr, "pods", tt.b, nothing); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}
