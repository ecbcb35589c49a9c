// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package managers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// A manager of one cluster that looks into another has a monitor for each, with the
// cluster's name in metrics and probes. A stall of one is that one's.
func TestClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, away := freshtest.Start(t, freshtest.Options{}), freshtest.Start(t, freshtest.Options{})
		monitors := map[string]*freshness.Monitor{"home": newMonitor(t, noCures()), "away": newMonitor(t, noCures())}
		mgr := newManager(t, home.Config(), monitors["home"])
		other, err := cluster.New(away.Config(), func(o *cluster.Options) { o.Cache.NewInformer = monitors["away"].NewInformer })
		if err != nil {
			t.Fatal(err)
		}
		add(t, mgr, other, monitors["home"], monitors["away"])
		informers(t, mgr.GetCache(), &corev1.ConfigMap{}, &corev1.Secret{})
		informers(t, other.GetCache(), &corev1.ConfigMap{}, &corev1.Secret{})
		r := prometheus.NewPedanticRegistry()
		checks := healthz.Handler{Checks: map[string]healthz.Checker{}}
		for name, m := range monitors {
			if err := prometheus.WrapRegistererWith(prometheus.Labels{"cluster": name}, r).Register(m); err != nil {
				t.Fatal(err)
			}
			checks.Checks["freshness-"+name] = m.Check
		}
		run(t, mgr)
		pass(3*time.Minute, home, away)
		for _, m := range monitors {
			eventuallyVerdicts(t, m, map[string]freshness.Verdict{"configmaps/v1": freshness.Fresh, "secrets/v1": freshness.Fresh})
		}
		wantSeries(t, r, "cluster=away resource=configmaps ", "cluster=away resource=secrets ", "cluster=home resource=configmaps ", "cluster=home resource=secrets ")
		if code, body := get(&checks, "/"); code != http.StatusOK {
			t.Errorf("probe %d: %s", code, body)
		}

		away.Stall(configMaps)
		pass(10*time.Minute, home, away)
		eventuallyVerdicts(t, monitors["home"], map[string]freshness.Verdict{"configmaps/v1": freshness.Fresh, "secrets/v1": freshness.Fresh})
		eventuallyVerdicts(t, monitors["away"], map[string]freshness.Verdict{"configmaps/v1": freshness.Stalled, "secrets/v1": freshness.Fresh})
		if err := monitors["home"].Check(nil); err != nil {
			t.Errorf("home: Check() = %v", err)
		}
		err = monitors["away"].Check(nil)
		if err == nil || !strings.Contains(err.Error(), "configmaps/v1: Stalled") || strings.Contains(err.Error(), "secrets") {
			t.Errorf("away: Check() = %v, want config maps and nothing else", err)
		}
		if code, body := get(&checks, "/"); code != http.StatusInternalServerError || !strings.Contains(body, "[-]freshness-away") || !strings.Contains(body, "[+]freshness-home") {
			t.Errorf("probe %d: %s", code, body)
		}
		_, page := get(promhttp.HandlerFor(r, promhttp.HandlerOpts{}), "/metrics")
		for series, want := range map[string]bool{
			`freshwatch_informer_verdict{cluster="away",group="",namespace="",resource="configmaps",verdict="Stalled",version="v1"} 1`: true,
			`freshwatch_informer_verdict{cluster="home",group="",namespace="",resource="configmaps",verdict="Stalled",version="v1"} 0`: true,
			`freshwatch_informer_verdict{cluster="away",group="",namespace="",resource="secrets",verdict="Stalled",version="v1"} 1`:    false,
		} {
			if got := strings.Contains(page, series); got != want {
				t.Errorf("%s: %v, want %v", series, got, want)
			}
		}
	})
}

// A cluster that cannot be reached is no reason to restart, and the other one's
// informers go on being proven.
func TestClusterUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, away := freshtest.Start(t, freshtest.Options{}), freshtest.Start(t, freshtest.Options{})
		here, there := newMonitor(t, freshness.Options{}), newMonitor(t, freshness.Options{})
		mgr := newManager(t, home.Config(), here)
		other, err := cluster.New(away.Config(), func(o *cluster.Options) { o.Cache.NewInformer = there.NewInformer })
		if err != nil {
			t.Fatal(err)
		}
		add(t, mgr, other, here, there)
		informers(t, mgr.GetCache(), &corev1.ConfigMap{})
		informers(t, other.GetCache(), &corev1.ConfigMap{})
		run(t, mgr)
		pass(3*time.Minute, home, away)
		away.BlackHole()
		away.Refuse()
		pass(20*time.Minute, home, away)
		wantVerdicts(t, here, map[string]freshness.Verdict{"configmaps/v1": freshness.Fresh})
		wantVerdicts(t, there, map[string]freshness.Verdict{"configmaps/v1": freshness.Unreachable})
		for name, m := range map[string]*freshness.Monitor{"home": here, "away": there} {
			if err := m.Check(nil); err != nil {
				t.Errorf("%s: Check() = %v", name, err)
			}
		}
	})
}

func get(h http.Handler, path string) (code int, body string) {
	page := httptest.NewRecorder()
	h.ServeHTTP(page, httptest.NewRequest(http.MethodGet, path, nil))
	return page.Code, page.Body.String()
}
