// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// leases are where the canary and the budget of restarts are; empty: off.
type leases struct{ Canary, Restarts string }

// The Lease is named after the operator, and in a namespace that is known to be its own.
func TestLease(t *testing.T) {
	both := func(name string) leases { return leases{name, name} }
	inPod := func(t *testing.T) string {
		file := filepath.Join(t.TempDir(), "namespace")
		if err := os.WriteFile(file, []byte("pod\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	election := ctrl.Options{LeaderElectionNamespace: "election", LeaderElectionID: "id.example.com"}
	restarts := func(o reconcile.RestartBudgetOptions) Options {
		return Options{Reconcile: reconcile.DeadlinesOptions{Restarts: o}}
	}
	tests := []struct {
		name string
		opts Options
		mgr  ctrl.Options
		file func(*testing.T) string
		want leases
		says bool
	}{
		{"in a pod", Options{}, ctrl.Options{}, inPod, both("pod/freshwatch-canary"), false},
		{"in a pod, with leader election", Options{}, ctrl.Options{LeaderElectionID: "id"}, inPod, both("pod/id-canary"), false},
		{"leader election elsewhere", Options{}, election, inPod, both("election/id.example.com-canary"), false},
		{"given", Options{Canary: watchcanary.Options{Namespace: "given", Name: "own"}}, election, inPod, both("given/own"), false},
		{"budget elsewhere", restarts(reconcile.RestartBudgetOptions{Namespace: "far", Lease: "away"}), election, noPod, leases{"election/id.example.com-canary", "far/away"}, false},
		{"ID is no name", Options{}, ctrl.Options{LeaderElectionID: "No_Name"}, inPod, both("pod/freshwatch-canary"), false},
		{"ID is too long", Options{}, ctrl.Options{LeaderElectionID: strings.Repeat("a", 247)}, inPod, both("pod/freshwatch-canary"), false},
		{"on a laptop", Options{}, ctrl.Options{LeaderElectionID: "id"}, noPod, leases{}, true},
		{"on a laptop, with a namespace", Options{Canary: watchcanary.Options{Namespace: "given"}}, ctrl.Options{}, noPod, both("given/freshwatch-canary"), false},
		{"on a laptop, with one for the budget", restarts(reconcile.RestartBudgetOptions{Namespace: "far"}), ctrl.Options{}, noPod, leases{"", "far/freshwatch-canary"}, true},
		{"on a laptop, without what wants one", Options{Disable: Parts{Canary: true, Reconcile: true}}, ctrl.Options{}, noPod, leases{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &lines{}
				tt.opts.Registerer, tt.opts.Logger = prometheus.NewRegistry(), log.logger()
				g, err := New(tt.opts)
				if err != nil {
					t.Fatal(err)
				}
				g.namespaceFile = tt.file(t)
				cfg, opts := freshtest.Start(t, freshtest.Options{}).Config(), managerOptions()
				opts.LeaderElectionNamespace, opts.LeaderElectionID = tt.mgr.LeaderElectionNamespace, tt.mgr.LeaderElectionID
				if err := g.PrepareConfig(cfg); err != nil {
					t.Fatal(err)
				}
				if err := g.PrepareManager(&opts); err != nil {
					t.Fatal(err)
				}
				mgr, err := ctrl.NewManager(cfg, opts)
				if err != nil {
					t.Fatal(err)
				}
				if err := g.AddTo(mgr); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, leasesOf(g)); diff != "" {
					t.Errorf("leases (-want +got):\n%s", diff)
				}
				if said := len(log.with("--watch-canary-namespace")) == 1; said != tt.says {
					t.Errorf("said that they are off: %v, want %v", said, tt.says)
				}
			})
		})
	}
}

// leasesOf are those that parts were made with.
func leasesOf(g *Guard) (out leases) {
	o, _ := g.placed()
	if g.canary != nil {
		out.Canary = o.Canary.Namespace + "/" + o.Canary.Name
	}
	if r := o.Reconcile; g.deadlines != nil && !r.Default.NeverFail {
		out.Restarts = r.Restarts.Namespace + "/" + r.Restarts.Lease
	}
	return out
}
