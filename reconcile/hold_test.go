// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

func TestHoldNext(t *testing.T) {
	epoch := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	closed := hold{since: epoch}
	tests := []struct {
		name    string
		h       hold
		after   time.Duration
		closed  bool
		maxHold time.Duration
		want    hold
	}{
		{"open stays open", hold{}, 0, false, time.Minute, hold{}},
		{"closes now", hold{}, 0, true, time.Minute, closed},
		{"closes though holds are short", hold{}, 0, true, 1, closed},
		{"stays closed since then", closed, time.Minute - 1, true, time.Minute, closed},
		{"is over at the limit", closed, time.Minute, true, time.Minute, hold{since: epoch, over: true}},
		{"is never over without a limit", closed, 1000 * time.Hour, true, 0, closed},
		{"opens", closed, time.Second, false, time.Minute, hold{}},
		{"opens after it was over", hold{since: epoch, over: true}, time.Hour, false, time.Minute, hold{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.h.next(epoch.Add(tt.after), tt.closed, tt.maxHold); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestKindJudge(t *testing.T) {
	type v = []freshness.Verdict
	tests := []struct {
		name    string
		verdict freshness.Verdict
		found   bool
		opts    GateOptions
		want    bool
	}{
		{"syncing", freshness.Syncing, true, GateOptions{}, false},
		{"fresh", freshness.Fresh, true, GateOptions{}, false},
		{"suspect", freshness.Suspect, true, GateOptions{}, false},
		{"stalled", freshness.Stalled, true, GateOptions{}, true},
		{"control plane", freshness.ControlPlaneStalled, true, GateOptions{}, true},
		{"diverged", freshness.Diverged, true, GateOptions{}, true},
		{"unreachable", freshness.Unreachable, true, GateOptions{}, false},
		{"blind", freshness.Blind, true, GateOptions{}, false},
		{"chosen", freshness.Suspect, true, GateOptions{Verdicts: v{freshness.Suspect}}, true},
		{"not chosen", freshness.Stalled, true, GateOptions{Verdicts: v{freshness.Suspect}}, false},
		{"not monitored", freshness.Syncing, false, GateOptions{}, false},
		{"not monitored, and that counts", freshness.Syncing, false, GateOptions{CloseUnmonitored: true}, true},
		{"monitored, where the other would count", freshness.Fresh, true, GateOptions{CloseUnmonitored: true}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts, err := tt.opts.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			k := kind{stale: !tt.want} // nothing is left of what was
			k.judge(freshness.Status{Verdict: tt.verdict}, tt.found, opts)
			if k.closes() != tt.want || k.monitored != tt.found {
				t.Errorf("closes %v, monitored %v; want %v, %v", k.closes(), k.monitored, tt.want, tt.found)
			}
		})
	}
}
