// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package managers

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// A cache of several namespaces has an informer for each, and each is proven by
// reads of its own namespace, for which the operator has permission.
func TestNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		m := newMonitor(t, freshness.Options{})
		mgr := newManager(t, srv.Config(), m, "a", "b", "c")
		add(t, mgr, m)
		informers(t, mgr.GetCache(), &corev1.ConfigMap{}, &corev1.Namespace{})
		run(t, mgr)
		pass(5*time.Minute, srv)

		wantVerdicts(t, m, map[string]freshness.Verdict{
			"configmaps/v1 in a": freshness.Fresh,
			"configmaps/v1 in b": freshness.Fresh,
			"configmaps/v1 in c": freshness.Fresh,
			"namespaces/v1":      freshness.Fresh,
		})
		wantSeries(t, registered(t, m), "namespace=a resource=configmaps ", "namespace=b resource=configmaps ", "namespace=c resource=configmaps ", "resource=namespaces ")
		for _, r := range srv.Log() {
			if r.GVR == configMaps && (!slices.Contains([]string{"a", "b", "c"}, r.Namespace) || r.Name != "" || r.Verb != "list" && r.Verb != "watch") {
				t.Errorf("%s of %s, which lists and watches of the three namespaces do not permit", r.Verb, r.Path)
			}
		}
	})
}

// A stall of one namespace is that namespace's, and so are its cure and its blame.
func TestNamespaceStalls(t *testing.T) {
	for _, cured := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			srv := freshtest.Start(t, freshtest.Options{})
			create(t, srv, configMap("a", "red"), configMap("b", "red"))
			opts := noCures()
			if cured {
				opts = freshness.Options{}
			}
			m := newMonitor(t, opts)
			mgr := newManager(t, srv.Config(), m, "a", "b")
			add(t, mgr, m)
			informers(t, mgr.GetCache(), &corev1.ConfigMap{})
			run(t, mgr)
			pass(3*time.Minute, srv)

			srv.Stall(configMaps, "b")
			for _, ns := range []string{"a", "b"} {
				if err := srv.Update(configMap(ns, "blue")); err != nil {
					t.Fatal(err)
				}
			}
			pass(10*time.Minute, srv)
			var cm corev1.ConfigMap
			for _, ns := range []string{"a", "b"} {
				want := "blue"
				if ns == "b" && !cured {
					want = "red"
				}
				if err := mgr.GetClient().Get(t.Context(), keyOf(ns), &cm); err != nil || cm.Data["color"] != want {
					t.Errorf("the cache has %q in %s, %v; want %s", cm.Data["color"], ns, err, want)
				}
			}
			for _, st := range m.Status() {
				cures := st.Cures[freshness.Resume] + st.Cures[freshness.Relist] + st.Cures[freshness.List]
				if want := cured && st.Informer.Namespace == "b"; (cures > 0) != want {
					t.Errorf("%d cures of %v", cures, st.Informer)
				}
			}
			if err := m.Check(nil); cured != (err == nil) || err != nil && (!strings.Contains(err.Error(), "configmaps/v1 in b: Stalled") || strings.Contains(err.Error(), "in a")) {
				t.Errorf("Check() = %v with cures %v", err, cured)
			}
		})
	}
}

// What is asked for one namespace is answered by its informer, and for all by each.
func TestStatusOfNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		m := newMonitor(t, noCures())
		mgr := newManager(t, srv.Config(), m, "a", "b")
		add(t, mgr, m)
		informers(t, mgr.GetCache(), &corev1.ConfigMap{})
		run(t, mgr)
		pass(2*time.Minute, srv)
		srv.Stall(configMaps, "b")
		pass(150*time.Second, srv) // before the watches are renewed: see eventuallyVerdicts
		for ns, want := range map[string]freshness.Verdict{"a": freshness.Fresh, "b": freshness.Stalled, "": freshness.Stalled} {
			if st, found := m.StatusOf(freshness.Informer{Resource: "configmaps", Namespace: ns}); !found || st.Verdict != want {
				t.Errorf("namespace %q: %v, %v; want %v", ns, st.Verdict, found, want)
			}
		}
		if _, found := m.StatusOf(freshness.Informer{Resource: "configmaps", Namespace: "c"}); found {
			t.Error("there is a status of a namespace without an informer")
		}
	})
}
