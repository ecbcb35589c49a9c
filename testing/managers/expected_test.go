// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package managers

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// An informer that has to be there and is not is reported, whether nobody ever
// asked the cache for it or somebody removed it. Those that are there are not, and
// the probe stays out of it.
func TestExpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		m := newMonitor(t, freshness.Options{Expected: []freshness.Informer{
			{Resource: "configmaps", Namespace: "a"},
			{Version: "v1", Resource: "namespaces"},
			{Resource: "secrets"},
		}})
		mgr := newManager(t, srv.Config(), m, "a", "b")
		add(t, mgr, m)
		informers(t, mgr.GetCache(), &corev1.ConfigMap{}, &corev1.Namespace{})
		run(t, mgr)
		pass(3*time.Minute, srv)
		present := map[string]freshness.Verdict{
			"configmaps/v1 in a": freshness.Fresh,
			"configmaps/v1 in b": freshness.Fresh,
			"namespaces/v1":      freshness.Fresh,
		}
		with := func(more map[string]freshness.Verdict) map[string]freshness.Verdict {
			for name, v := range present {
				if _, other := more[name]; !other {
					more[name] = v
				}
			}
			return more
		}
		wantVerdicts(t, m, with(map[string]freshness.Verdict{"secrets": freshness.Blind}))
		wantSeries(t, registered(t, m), "namespace=a resource=configmaps ", "namespace=b resource=configmaps ", "resource=namespaces ", "resource=secrets ")

		informers(t, mgr.GetCache(), &corev1.Secret{})
		pass(2*time.Minute, srv)
		present["secrets/v1 in a"], present["secrets/v1 in b"] = freshness.Fresh, freshness.Fresh
		wantVerdicts(t, m, present)

		remove(t, mgr.GetCache(), &corev1.ConfigMap{})
		delete(present, "configmaps/v1 in a")
		delete(present, "configmaps/v1 in b")
		pass(30*time.Second, srv) // it may be made anew
		wantVerdicts(t, m, present)
		pass(time.Minute, srv)
		wantVerdicts(t, m, with(map[string]freshness.Verdict{"configmaps in a": freshness.Blind}))
		if err := m.Check(nil); err != nil {
			t.Errorf("Check() = %v", err)
		}
	})
}
