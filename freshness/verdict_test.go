// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	const limit = 75 * time.Second
	tests := []struct {
		name string
		e    evidence
		want Verdict
		why  string
	}{
		{"nothing known", evidence{}, Syncing, "the zero evidence must alarm nobody"},
		{"synced, unproven", evidence{synced: true}, Syncing, "a first list may be old; no proof is outstanding for too long yet"},
		{"proven just now", evidence{synced: true, proven: true}, Fresh, ""},
		{"bound at the limit", evidence{synced: true, proven: true, bound: limit}, Fresh, "the limit itself is allowed"},
		{"bound past the limit", evidence{synced: true, proven: true, bound: limit + 1}, Suspect, "one nanosecond more is not"},
		{"reads fail, bound young", evidence{synced: true, proven: true, bound: limit, read: readUnreachable}, Fresh, "a failed read is not evidence of staleness"},
		{"reads fail, bound old", evidence{synced: true, proven: true, bound: limit + 1, read: readUnreachable}, Unreachable, ""},
		{"forbidden, bound young", evidence{synced: true, proven: true, bound: limit, read: readBlind}, Fresh, ""},
		{"forbidden, bound old", evidence{synced: true, proven: true, bound: limit + 1, read: readBlind}, Blind, ""},
		{"forbidden from the start", evidence{synced: true, read: readBlind}, Blind, ""},
		{"unreachable from the start", evidence{synced: true, read: readUnreachable}, Unreachable, ""},
		{"overdue, server not asked", evidence{synced: true, proven: true, overdue: true, conclusive: true, follows: true}, Suspect, "whose fault is it?"},
		{"overdue, server late", evidence{synced: true, proven: true, overdue: true, conclusive: true, follows: true, server: ServerLate}, Suspect, "late is not frozen"},
		{"overdue, server has it", evidence{synced: true, proven: true, overdue: true, conclusive: true, follows: true, server: ServerReached}, Stalled, ""},
		{"overdue, server has it, stream renewed meanwhile", evidence{synced: true, proven: true, overdue: true, follows: true, server: ServerReached}, Suspect, "the new stream owes no bookmark yet"},
		{"overdue, server frozen", evidence{synced: true, proven: true, overdue: true, conclusive: true, follows: true, server: ServerFrozen}, ControlPlaneStalled, ""},
		{"overdue, server frozen, stream renewed meanwhile", evidence{synced: true, proven: true, overdue: true, follows: true, server: ServerFrozen}, ControlPlaneStalled, "the server speaks of itself, not of the stream"},
		{"overdue, server never seen to follow", evidence{synced: true, proven: true, overdue: true, conclusive: true, server: ServerFrozen}, Blind, "a datastore without progress looks the same"},
		{"overdue, reads fail", evidence{synced: true, proven: true, overdue: true, conclusive: true, read: readUnreachable}, Unreachable, "nobody could be asked"},
		{"overdue beats a young bound", evidence{synced: true, proven: true, bound: 1, overdue: true}, Suspect, ""},
		{"unsynced beats all", evidence{proven: true, overdue: true, conclusive: true, server: ServerReached}, Syncing, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge(tt.e, limit); got != tt.want {
				t.Errorf("judge(%+v) = %v, want %v %s", tt.e, got, tt.want, tt.why)
			}
		})
	}
}

func TestFailsLiveness(t *testing.T) {
	const after = 5 * time.Minute
	for v := range verdictNames {
		for _, d := range []time.Duration{0, after - 1, after, after + 1, 24 * time.Hour} {
			want := Verdict(v) == Stalled && d >= after
			if got := failsLiveness(Verdict(v), d, after); got != want {
				t.Errorf("failsLiveness(%v, %v, %v) = %v, want %v", Verdict(v), d, after, got, want)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Syncing.String(), "Syncing"}, {Blind.String(), "Blind"}, {Verdict(-1).String(), "Verdict(-1)"}, {Verdict(8).String(), "Verdict(8)"},
		{Resume.String(), "resume"}, {List.String(), "list"}, {Rung(4).String(), "Rung(4)"},
		{VerdictChanged.String(), "VerdictChanged"}, {CureFailed.String(), "CureFailed"}, {EventType(99).String(), "EventType(99)"},
		{Informer{Resource: "pods", Version: "v1"}.String(), "pods/v1"},
		{Event{Type: Proven, Informer: Informer{Resource: "pods"}, FreshAsOf: time.Unix(0, 0).UTC()}.String(), "pods: Proven up to 1970-01-01T00:00:00Z"},
		{Event{Type: CureStarted, Informer: Informer{Resource: "pods"}, Cure: Relist}.String(), "pods: CureStarted relist"},
		{Event{Type: Read, Informer: Informer{Resource: "pods"}, ResourceVersion: "7"}.String(), "pods: Read at 7"},
		{Event{Informer: Informer{Resource: "pods"}, Verdict: Stalled, Previous: Fresh, Reason: "why"}.String(), "pods: VerdictChanged from Fresh to Stalled: why"},
		{Informer{Group: "example.com", Version: "v1", Resource: "widgets", Namespace: "a"}.String(), "widgets.example.com/v1 in a"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
