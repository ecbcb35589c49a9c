// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package facade

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// guards is what an operator has of them.
type guards struct {
	Healthz, Readyz []string
	Families        []string // of metrics, with their labels
	Page            bool
	Informers       []string // that are monitored, as namespace NS
	Connections     bool     // are remembered
	Leases          []string
}

func of(t *testing.T, p *realplane.Plane, o *operator) guards {
	t.Helper()
	out := guards{Healthz: o.checks(t, "/healthz"), Readyz: o.checks(t, "/readyz"), Families: o.families(t)}
	var page page
	page, out.Page = o.page(t)
	for _, i := range page.Informers {
		out.Informers = append(out.Informers, strings.ReplaceAll(i.Name, o.namespace, "NS"))
	}
	out.Connections = len(page.Log) > 0
	leases, err := p.Typed.CoordinationV1().Leases(o.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases.Items {
		out.Leases = append(out.Leases, l.Name)
	}
	slices.Sort(out.Leases)
	return out
}

// An operator by one call, by three, and by the long way is guarded in the same way. One
// without guards has nothing of that.
func TestTheSameByEveryWay(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	got := map[string]guards{}
	for name, way := range ways {
		o := start(t, p, way)
		o.await(t, name != "stock")
		got[name] = of(t, p, o)
	}
	want := got["the long way"]
	for _, name := range []string{"NewManager", "three calls"} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s is not the long way (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"freshness", "ping", "reconcile", "watch-canary"}, want.Healthz); diff != "" {
		t.Errorf("checks of liveness (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ping"}, want.Readyz); diff != "" {
		t.Errorf("checks of readiness (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"configmaps/v1 in NS", "leases.coordination.k8s.io/v1 in NS"}, want.Informers); diff != "" {
		t.Errorf("informers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{electionID, electionID + "-canary"}, want.Leases); diff != "" {
		t.Errorf("leases (-want +got):\n%s", diff)
	}
	if !want.Page || !want.Connections || len(want.Families) < 20 {
		t.Errorf("guarded: %+v", want)
	}
	if diff := cmp.Diff(guards{Healthz: []string{"ping"}, Readyz: []string{"ping"}, Leases: []string{electionID}}, got["stock"]); diff != "" {
		t.Errorf("stock (-want +got):\n%s", diff)
	}
}
