// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

func TestJudge(t *testing.T) {
	const interval, hour = time.Minute, time.Hour
	tests := []struct {
		name string
		e    evidence
		want State
	}{
		{"does not lead", evidence{}, Standby},
		{"does not lead, whatever it knew", evidence{unseen: hour, informer: freshness.Stalled}, Standby},
		{"has just begun", evidence{leads: true}, Pending},
		{"a write is under way, and takes its time", evidence{leads: true, since: time.Second, unseen: time.Second}, Pending},
		{"a write has come back", evidence{leads: true, since: time.Second, returned: true}, Fresh},
		{"the next is on its way", evidence{leads: true, since: hour, returned: true, unseen: lateAfter}, Fresh},
		{"late, nobody knows why", evidence{leads: true, since: hour, returned: true, unseen: lateAfter + 1, informer: freshness.Suspect}, Fresh},
		{"late for long, nobody knows why", evidence{leads: true, since: hour, returned: true, unseen: interval + lateAfter + 1, informer: freshness.Suspect}, Blind},
		{"late, and a dead stream", evidence{leads: true, since: hour, returned: true, unseen: lateAfter + 1, informer: freshness.Stalled}, Stalled},
		{"not late yet, a dead stream", evidence{leads: true, since: hour, returned: true, unseen: lateAfter, informer: freshness.Stalled}, Fresh},
		{"all is back, and another informer of the kind is stalled", evidence{leads: true, since: hour, returned: true, informer: freshness.Stalled}, Fresh},
		{"late, and so is the API server", evidence{leads: true, since: hour, returned: true, unseen: hour, informer: freshness.ControlPlaneStalled}, ControlPlaneStalled},
		{"late, and the API server is away", evidence{leads: true, since: hour, returned: true, unseen: lateAfter + 1, informer: freshness.Unreachable}, Blind},
		{"late, and the watch forbidden", evidence{leads: true, since: hour, returned: true, unseen: lateAfter + 1, informer: freshness.Blind}, Blind},
		{"a dead stream from the start", evidence{leads: true, since: startGrace, unseen: lateAfter + 1, informer: freshness.Stalled}, Pending},
		{"a dead stream since the start", evidence{leads: true, since: startGrace + 1, unseen: lateAfter + 1, informer: freshness.Stalled}, Stalled},
		{"one write failed", evidence{leads: true, since: hour, returned: true, failing: interval}, Fresh},
		{"writes fail", evidence{leads: true, since: hour, returned: true, failing: interval + 1}, Blind},
		{"writes fail from the start", evidence{leads: true, since: startGrace, failing: startGrace}, Pending},
		{"writes have failed from the start", evidence{leads: true, since: startGrace + 1, failing: 1}, Blind},
		{"blind, and a write is acknowledged", evidence{leads: true, since: hour, returned: true, unseen: 1, blind: true}, Blind},
		{"blind, and it has come back", evidence{leads: true, since: hour, returned: true, blind: true}, Fresh},
		{"blind, and the next one is under way", evidence{leads: true, since: hour, returned: true, blind: true, failing: 1}, Blind},
		{"nothing, for long", evidence{leads: true, since: startGrace + 1}, Pending},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge(tt.e, interval); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestOutlasted(t *testing.T) {
	const limit = 5 * time.Minute
	for s := range State(len(stateNames)) {
		if got := outlasted(s, time.Hour, limit); got != (s == Stalled) {
			t.Errorf("%v for an hour: %v", s, got)
		}
	}
	if outlasted(Stalled, limit-1, limit) || !outlasted(Stalled, limit, limit) {
		t.Error("the limit itself counts, and a nanosecond less does not")
	}
}

func TestStateNames(t *testing.T) {
	for s, want := range map[State]string{Standby: "Standby", ControlPlaneStalled: "ControlPlaneStalled", -1: "State(-1)", 6: "State(6)"} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
