// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

func TestReconcileWatch(t *testing.T) {
	in := func(controller, request, stage string) flightrecorder.Reconcile {
		return flightrecorder.Reconcile{Controller: controller, Request: request, Age: 960, Stage: stage}
	}
	a, b := in("pods", "ns/"+secret, "Wedged"), in("backups", "ns/b", "Failing")
	const ofPods = `A reconcile of controller "pods" has been running for 16m and ignores that its context has ended, so a worker is lost: its stack is in the log.`
	const ofBackups = `A reconcile of controller "backups" has been running for 16m and ignores that its context has ended, so a worker is lost: its stack is in the log.`
	for _, tt := range []struct {
		name string
		in   [][]flightrecorder.Reconcile
		want []string
	}{
		{"none", [][]flightrecorder.Reconcile{nil, {in("pods", "ns/a", "Running")}, {in("pods", "ns/a", "Overrun")}}, nil},
		{"one, and its next stage", [][]flightrecorder.Reconcile{{a}, {a}, {in("pods", "ns/"+secret, "Failing")}}, []string{ofPods}},
		{"two of one controller", [][]flightrecorder.Reconcile{{a}, {a, in("pods", "ns/c", "Wedged")}}, []string{ofPods, ofPods}},
		{"two at once", [][]flightrecorder.Reconcile{{a, b}}, []string{"2 controllers (backups, pods). The last: " + ofBackups}},
		{"it returns, and again", [][]flightrecorder.Reconcile{{a}, nil, {a}}, []string{ofPods, ofPods}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			var w reconcileWatch
			p, _ := newTestPending(noon)
			for i, all := range tt.in {
				w.reconciles(all, noon.Add(time.Duration(i)*tick), p)
				for n, has := p.rest(noon); has; n, has = p.rest(noon) {
					got = append(got, n.message())
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBudgets(t *testing.T) {
	var got []string
	var w reconcileWatch
	p, _ := newTestPending(noon)
	for _, all := range [][]string{nil, {"3 in 24h"}, {"3 in 24h"}, {}, {"3 in 24h", "1 in 1h"}} {
		w.budgets(all, noon, p)
		for n, has := p.rest(noon); has; n, has = p.rest(noon) {
			got = append(got, n.message())
		}
	}
	const text = "No more restarts are asked for, since those before have not helped: look for the cause. The budget: "
	if diff := cmp.Diff([]string{text + "3 in 24h.", text + "1 in 1h."}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
