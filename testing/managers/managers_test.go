// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package managers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// Two managers of one process, each with a monitor of its own, know nothing of each
// other. With one registry they need a label each.
func TestTwoManagersTwoMonitors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		r := prometheus.NewPedanticRegistry()
		monitors := map[string]*freshness.Monitor{}
		stops := map[string]func(){}
		for _, name := range []string{"one", "two"} {
			m := newMonitor(t, freshness.Options{})
			mgr := newManager(t, srv.Config(), m)
			add(t, mgr, m)
			informers(t, mgr.GetCache(), &corev1.ConfigMap{})
			if err := prometheus.WrapRegistererWith(prometheus.Labels{"manager": name}, r).Register(m); err != nil {
				t.Fatal(err)
			}
			monitors[name], stops[name] = m, run(t, mgr)
		}
		pass(2*time.Minute, srv)
		wantSeries(t, r, "manager=one resource=configmaps ", "manager=two resource=configmaps ")
		for _, m := range monitors {
			wantVerdicts(t, m, map[string]freshness.Verdict{"configmaps/v1": freshness.Fresh})
		}
		stops["one"]()
		pass(2*time.Minute, srv)
		wantVerdicts(t, monitors["two"], map[string]freshness.Verdict{"configmaps/v1": freshness.Fresh})

		// Without labels the registry refuses the second.
		plain := registered(t, monitors["one"])
		if err := plain.Register(monitors["two"]); !errors.As(err, &prometheus.AlreadyRegisteredError{}) {
			t.Errorf("error %v, want one of a duplicate", err)
		}
	})
}

// One monitor can serve the informers of several managers. It is run once, by
// whichever runs longest.
func TestTwoManagersOneMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		m := newMonitor(t, freshness.Options{})
		first, second := newManager(t, srv.Config(), m, "a"), newManager(t, srv.Config(), m, "b")
		add(t, first, m)
		informers(t, first.GetCache(), &corev1.ConfigMap{})
		informers(t, second.GetCache(), &corev1.ConfigMap{})
		run(t, first)
		stopSecond := run(t, second)
		r := registered(t, m)
		pass(3*time.Minute, srv)
		wantVerdicts(t, m, map[string]freshness.Verdict{"configmaps/v1 in a": freshness.Fresh, "configmaps/v1 in b": freshness.Fresh})
		wantSeries(t, r, "namespace=a resource=configmaps ", "namespace=b resource=configmaps ")

		stopSecond()
		pass(2*time.Minute, srv)
		wantVerdicts(t, m, map[string]freshness.Verdict{"configmaps/v1 in a": freshness.Fresh})
		wantSeries(t, r, "namespace=a resource=configmaps ")
	})
}

// Two informers of one name share a series that is the worse of both.
func TestTwoManagersOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		m := newMonitor(t, noCures())
		first, second := newManager(t, srv.Config(), m), newManager(t, srv.Config(), m)
		add(t, first, m)
		informers(t, first.GetCache(), &corev1.ConfigMap{})
		run(t, first)
		run(t, second)
		pass(3*time.Minute, srv)
		srv.Stall(configMaps) // the first one's: the second has none yet
		pass(10*time.Minute, srv)
		informers(t, second.GetCache(), &corev1.ConfigMap{})
		pass(2*time.Minute, srv)
		if got := len(m.Status()); got != 2 {
			t.Errorf("%d informers, want 2", got)
		}
		wantSeries(t, registered(t, m), "resource=configmaps ")
		if err := m.Check(nil); err == nil || strings.Count(err.Error(), "configmaps/v1: Stalled") != 1 {
			t.Errorf("Check() = %v, want one stall", err)
		}
		remove(t, first.GetCache(), &corev1.ConfigMap{})
		pass(10*time.Second, srv)
		eventuallyVerdicts(t, m, map[string]freshness.Verdict{"configmaps/v1": freshness.Fresh})
		if err := m.Check(nil); err != nil {
			t.Errorf("Check() = %v", err)
		}
	})
}

// A monitor that is run twice says so, rather than work twice.
func TestMonitorRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		m := newMonitor(t, freshness.Options{})
		first, second := newManager(t, srv.Config(), m), newManager(t, srv.Config(), m)
		add(t, first, m)
		add(t, second, m)
		run(t, first)
		if err := second.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "was started before") || errors.Is(err, context.Canceled) {
			t.Errorf("the second manager stopped with %v, want to be told", err)
		}
	})
}
