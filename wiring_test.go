// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// informed has the cache of a manager hold ConfigMaps.
func informed(t *testing.T, mgr ctrl.Manager) {
	t.Helper()
	if _, err := mgr.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
}

// busy lets time pass while somebody else writes something.
func busy(srv *freshtest.Server, d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		srv.Bump(1)
		time.Sleep(time.Second)
	}
	synctest.Wait()
}

// All parts run, and know of each other: a watch that falls silent for good fails
// liveness, and the log then has what the recorder holds.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		var incidents atomic.Int32
		g := newGuarded(t, srv.Config(), Options{
			Transport:      transport.Options{IdleTimeout: time.Hour, MaxWatch: time.Hour}, // which would heal it, too
			Freshness:      freshness.Options{DisabledCures: []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List, freshness.Reconnect}},
			FlightRecorder: flightrecorder.Options{OnIncident: func(flightrecorder.Incident) { incidents.Add(1) }},
		})
		informed(t, g)
		run(t, srv, g.Manager)
		busy(srv, 3*time.Minute)
		if v, why := verdictOf(t, g.guard.Monitor(), "configmaps"); v != freshness.Fresh {
			t.Errorf("ConfigMaps are %v: %s", v, why)
		}
		if st := g.guard.Canary().Status(); st.State != watchcanary.Fresh {
			t.Errorf("the canary is %v: %s", st.State, st.Reason)
		}
		if err := g.GetAPIReader().Get(t.Context(), client.ObjectKey{Namespace: place, Name: electionID + "-canary"}, &coordinationv1.Lease{}); err != nil {
			t.Error(err)
		}
		g.wantFailing(t)
		g.wantPage(t, true)
		if n := len(g.lines.with("flightrecorder: ")); n != 0 {
			t.Errorf("%d dumps while all is well", n)
		}

		srv.Stall(configMaps)
		srv.StallNew(configMaps)
		if err := srv.Create(configMap("news")); err != nil {
			t.Fatal(err)
		}
		busy(srv, 8*time.Minute)
		g.wantFailing(t, "freshness")
		synctest.Wait()
		g.wantPage(t, false)
		if n := len(g.lines.with("flightrecorder: ")); n != 1 {
			t.Errorf("%d dumps, want 1", n)
		}
		if incidents.Load() == 0 {
			t.Error("the program's own OnIncident was told of none")
		}
		if n := srv.Requests(corev1.SchemeGroupVersion.WithResource("events"), "create"); n == 0 {
			t.Error("no Event was written")
		}
	})
}

// wantFailing fails unless these checks fail, and no others.
func (g *guarded) wantFailing(t *testing.T, want ...string) {
	t.Helper()
	var failing []string
	for name, check := range g.checks {
		if err := check(&http.Request{}); err != nil {
			failing = append(failing, name)
		}
	}
	if !slices.Equal(failing, want) {
		t.Errorf("failing: %q, want %q", failing, want)
	}
}

// wantPage fails unless the page knows of everything.
func (g *guarded) wantPage(t *testing.T, healthy bool) {
	t.Helper()
	rec := httptest.NewRecorder()
	g.options.Metrics.ExtraHandlers[DefaultDebugPath].ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, DefaultDebugPath+"?format=json", http.NoBody))
	got := g.guard.Recorder().Snapshot()
	if !strings.Contains(rec.Body.String(), got.Diagnosis) {
		t.Errorf("the page has no %q: %s", got.Diagnosis, rec.Body)
	}
	if got.Healthy != healthy || len(got.Informers) != 2 || len(got.Connections) == 0 || got.Canary == nil || len(got.Canary.Trips) == 0 {
		t.Errorf("the page says %s: %+v", got.Diagnosis, got)
	}
	for _, i := range got.Informers {
		if len(i.Log) == 0 || i.Watch.Remote == "" {
			t.Errorf("the page knows little of %s: %+v", i.Name, i)
		}
	}
}

// What the program itself writes through the manager's client has to come back within
// seconds; what others write, within the bound.
func TestOwnWritesAreEvidence(t *testing.T) {
	for name, own := range map[string]bool{"own": true, "of others": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := freshtest.Start(t, freshtest.Options{})
				mgr, err := NewManager(srv.Config(), managerOptions(), Options{
					Registerer: prometheus.NewRegistry(),
					Transport:  transport.Options{IdleTimeout: time.Hour, MaxWatch: time.Hour}, // a renewed watch brings it, too
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := srv.Create(configMap("a")); err != nil {
					t.Fatal(err)
				}
				informed(t, mgr)
				run(t, srv, mgr)
				busy(srv, 3*time.Minute)
				for mgr.Guard.Monitor().Status()[0].Staleness > 10*time.Second { // no proof is due soon
					busy(srv, time.Second)
				}
				srv.Stall(configMaps)
				edited := configMap("a")
				edited.Data = map[string]string{"color": "red"}
				if own {
					err = mgr.GetClient().Update(t.Context(), edited)
				} else {
					err = srv.Update(edited)
				}
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(30 * time.Second)
				var got corev1.ConfigMap
				if err := mgr.GetCache().Get(t.Context(), client.ObjectKeyFromObject(edited), &got); err != nil {
					t.Fatal(err)
				}
				if healed := got.Data["color"] == "red"; healed != own {
					t.Errorf("the cache has it: %v, want %v", healed, own)
				}
			})
		})
	}
}

// The last cure of the monitor is new connections, those of the config.
func TestMonitorRecycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		g := newGuarded(t, srv.Config(), Options{})
		run(t, srv, g.Manager)
		busy(srv, time.Second)
		c := g.guard.opts.Freshness.Connections
		if n := c.Recycle(); n != 1 {
			t.Errorf("%d connections were recycled, want 1", n)
		}
		if none, err := New(Options{}); err != nil || none.opts.Freshness.Connections.Recycle() != 0 {
			t.Errorf("%v; there is something to recycle before there is a config", err)
		}
		if off, err := New(Options{Disable: Parts{Transport: true}}); err != nil || off.opts.Freshness.Connections != nil {
			t.Errorf("%v; connections that are not guarded are recycled", err)
		}
	})
}

// Complete gives a controller the deadline of the options; where deadlines are off it is
// the builder's, and the controller has the name either way.
func TestComplete(t *testing.T) {
	for name, off := range map[string]bool{"on": false, "off": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := freshtest.Start(t, freshtest.Options{})
				registry := prometheus.NewRegistry()
				mgr, err := NewManager(srv.Config(), managerOptions(), Options{
					Registerer: registry, Disable: Parts{Reconcile: off},
					Reconcile: reconcile.DeadlinesOptions{Default: reconcile.DeadlineOptions{Timeout: time.Minute}},
				})
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan struct{}, 10)
				waits := ctrlreconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
					<-ctx.Done()
					ended <- struct{}{}
					return ctrl.Result{}, nil
				})
				if err := Complete(mgr, "waiting", ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}), waits); err != nil {
					t.Fatal(err)
				}
				if err := srv.Create(configMap("a")); err != nil {
					t.Fatal(err)
				}
				run(t, srv, mgr)
				time.Sleep(time.Minute + 30*time.Second)
				if n := len(ended); (n > 0) == off {
					t.Errorf("%d reconciles have ended", n)
				}
				families, err := registry.Gather()
				if err != nil {
					t.Fatal(err)
				}
				named := slices.ContainsFunc(families, func(f *dto.MetricFamily) bool { return strings.Contains(f.String(), `value:"waiting"`) })
				if named == off {
					t.Errorf("the controller has series: %v", named)
				}
			})
		})
	}
}

// Where there is nobody to be asked, the log says so, once.
func TestServersThatAreOff(t *testing.T) {
	for _, tt := range []struct {
		name            string
		probes, metrics string
		want            []string
	}{
		{"none", "", "0", []string{"HealthProbeBindAddress", "Metrics.BindAddress"}},
		{"turned off", "0", "0", []string{"HealthProbeBindAddress", "Metrics.BindAddress"}},
		{"both", ":0", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := &lines{}
			g, err := New(Options{Logger: log.logger()})
			if err != nil {
				t.Fatal(err)
			}
			opts := ctrl.Options{HealthProbeBindAddress: tt.probes}
			opts.Metrics.BindAddress = tt.metrics
			if err := g.PrepareManager(&opts); err != nil {
				t.Fatal(err)
			}
			if got := log.with(""); len(got) != len(tt.want) {
				t.Errorf("%d lines: %q", len(got), got)
			}
			for _, what := range tt.want {
				if len(log.with(what)) != 1 {
					t.Errorf("no line has %s", what)
				}
			}
		})
	}
}
