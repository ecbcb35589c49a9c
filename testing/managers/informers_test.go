// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package managers

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// started is a running manager with an informer of Secrets, and one monitor.
func started(t *testing.T, opts freshness.Options, namespaces ...string) (*freshtest.Server, ctrl.Manager, *freshness.Monitor) {
	t.Helper()
	srv := freshtest.Start(t, freshtest.Options{})
	m := newMonitor(t, opts)
	mgr := newManager(t, srv.Config(), m, namespaces...)
	add(t, mgr, m)
	informers(t, mgr.GetCache(), &corev1.Secret{})
	run(t, mgr)
	pass(2*time.Minute, srv)
	return srv, mgr, m
}

func keyOf(namespace string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: "a"}
}

// An informer that is made while the manager runs, by whoever reads first, is
// proven like the others.
func TestInformerAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, mgr, m := started(t, freshness.Options{})
		create(t, srv, configMap("default", "red"))
		var cm corev1.ConfigMap
		if err := mgr.GetClient().Get(t.Context(), keyOf("default"), &cm); err != nil {
			t.Fatal(err)
		}
		pass(2*time.Minute, srv)
		wantVerdicts(t, m, map[string]freshness.Verdict{"secrets/v1": freshness.Fresh, "configmaps/v1": freshness.Fresh})
		wantSeries(t, registered(t, m), "resource=configmaps ", "resource=secrets ")

		stall := srv.Stall(configMaps)
		if err := srv.Update(configMap("default", "blue")); err != nil {
			t.Fatal(err)
		}
		pass(2*time.Minute, srv)
		if err := mgr.GetClient().Get(t.Context(), keyOf("default"), &cm); err != nil || cm.Data["color"] != "blue" || stall.Hits() == 0 {
			t.Errorf("the cache has %q, %v; want blue, after a cure", cm.Data["color"], err)
		}
	})
}

// With an informer go its series, its verdict, its part in Check and every
// goroutine, whatever state it was in.
func TestInformerRemoved(t *testing.T) {
	faults := map[string]func(*freshtest.Server){
		"healthy":              func(*freshtest.Server) {},
		"stalled":              func(s *freshtest.Server) { s.Stall(configMaps) },
		"stalled for good":     func(s *freshtest.Server) { s.Stall(configMaps); s.StallNew(configMaps) },
		"control plane frozen": func(s *freshtest.Server) { s.FreezeWatchCache(configMaps) },
		"unreachable":          func(s *freshtest.Server) { s.Respond(configMaps, "", 503, 0) },
		"forbidden":            func(s *freshtest.Server) { s.Deny(configMaps) },
	}
	for name, inflict := range faults {
		for _, namespaces := range [][]string{nil, {"a", "b"}} {
			t.Run(name+map[bool]string{true: ", two namespaces"}[namespaces != nil], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv, mgr, m := started(t, freshness.Options{}, namespaces...)
					r := registered(t, m)
					before, goroutines := reads(t, r), runtime.NumGoroutine()

					informers(t, mgr.GetCache(), &corev1.ConfigMap{})
					pass(2*time.Minute, srv)
					if got := runtime.NumGoroutine(); got <= goroutines {
						t.Errorf("%d goroutines with the informer, %d without", got, goroutines)
					}
					inflict(srv)
					pass(10*time.Minute, srv)
					if got := reads(t, r); len(got) != 2*len(before) {
						t.Errorf("series of %v, want those of the informer as well", got)
					}
					remove(t, mgr.GetCache(), &corev1.ConfigMap{})
					pass(time.Minute, srv)

					if got := reads(t, r); len(got) != len(before) {
						t.Errorf("series of %v, want what was before, %v", got, before)
					}
					wantGoroutines(t, goroutines, srv)
					if _, found := m.StatusOf(freshness.Informer{Resource: "configmaps"}); found {
						t.Error("there is still a status")
					}
					if err := m.Check(nil); err != nil {
						t.Errorf("Check() = %v", err)
					}
					watches, lists := srv.Requests(configMaps, "watch"), srv.Requests(configMaps, "list")
					pass(3*time.Minute, srv)
					if w, l := srv.Requests(configMaps, "watch"), srv.Requests(configMaps, "list"); w != watches || l != lists {
						t.Errorf("%d watches and %d lists of what nobody is interested in", w-watches, l-lists)
					}
				})
			})
		}
	}
}

// An informer that is made again is a new one, which takes over nothing but the
// counts of the series that it shares, and only where those did not end.
func TestInformerRecreated(t *testing.T) {
	for _, gap := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			srv, mgr, m := started(t, noCures())
			r := registered(t, m)
			create(t, srv, configMap("default", "red"))
			informers(t, mgr.GetCache(), &corev1.ConfigMap{})
			pass(3*time.Minute, srv)
			srv.Stall(configMaps)
			if err := srv.Update(configMap("default", "blue")); err != nil {
				t.Fatal(err)
			}
			pass(10*time.Minute, srv)
			eventuallyVerdicts(t, m, map[string]freshness.Verdict{"secrets/v1": freshness.Fresh, "configmaps/v1": freshness.Stalled})
			counted := reads(t, r)["resource=configmaps "]

			remove(t, mgr.GetCache(), &corev1.ConfigMap{})
			if gap > 0 {
				pass(gap, srv)
			}
			informers(t, mgr.GetCache(), &corev1.ConfigMap{})
			pass(time.Second, srv) // a stopped informer is let go of at the next look
			if err := m.Check(nil); err != nil {
				t.Errorf("the new informer is blamed for the old one's stall: %v", err)
			}
			pass(3*time.Second, srv)
			if got := reads(t, r)["resource=configmaps "]; gap == 0 && got < counted || gap > 0 && got >= counted {
				t.Errorf("%v reads, %v before a gap of %v", got, counted, gap)
			}
			pass(2*time.Minute, srv)
			eventuallyVerdicts(t, m, map[string]freshness.Verdict{"secrets/v1": freshness.Fresh, "configmaps/v1": freshness.Fresh})
			wantSeries(t, r, "resource=configmaps ", "resource=secrets ")
			var cm corev1.ConfigMap
			if err := mgr.GetClient().Get(t.Context(), keyOf("default"), &cm); err != nil || cm.Data["color"] != "blue" {
				t.Errorf("the cache has %q, %v; want blue", cm.Data["color"], err)
			}
		})
	}
}
