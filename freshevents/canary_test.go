// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/watchcanary"
)

func TestCanaryWatch(t *testing.T) {
	at := func(s watchcanary.State) watchcanary.Status {
		return watchcanary.Status{State: s, Reason: "reason of " + s.String()}
	}
	standby, pend, fresh := at(watchcanary.Standby), at(watchcanary.Pending), at(watchcanary.Fresh)
	stalled, blind, theirs := at(watchcanary.Stalled), at(watchcanary.Blind), at(watchcanary.ControlPlaneStalled)
	spent := stalled
	spent.Exhausted, spent.Reason = true, "no more restarts"
	for _, tt := range []struct {
		name string
		in   []watchcanary.Status // a minute apart, each looked at twice
		slow bool                 // nothing is written meanwhile
		want []string
	}{
		{"healthy", []watchcanary.Status{standby, pend, fresh, fresh}, false, nil},
		{"a stall", []watchcanary.Status{fresh, stalled, stalled, fresh}, false, []string{
			"CanaryStalled: Watch canary: reason of Stalled.", "CanaryHealed: Watch canary: writes come back again, after 2m.",
		}},
		{"from the start", []watchcanary.Status{pend, stalled}, false, []string{"CanaryStalled: Watch canary: reason of Stalled."}},
		{"it was the control plane after all", []watchcanary.Status{fresh, stalled, theirs, fresh}, false, []string{
			"CanaryStalled: Watch canary: reason of Stalled.", "ControlPlaneStalled: Watch canary: reason of ControlPlaneStalled.",
			"CanaryHealed: Watch canary: writes come back again, after 2m.",
		}},
		{"it leads no more", []watchcanary.Status{fresh, stalled, standby, fresh}, false, []string{"CanaryStalled: Watch canary: reason of Stalled."}},
		{"blind", []watchcanary.Status{fresh, blind, fresh}, false, []string{
			"CanaryBlind: Watch canary: reason of Blind.", "CanaryHealed: Watch canary: writes come back again, after 60s.",
		}},
		{"blind, and over before it was told", []watchcanary.Status{fresh, blind, fresh}, true, nil},
		{"a stall is told even then", []watchcanary.Status{fresh, stalled, fresh}, true, []string{
			"CanaryStalled: Watch canary: reason of Stalled.", "CanaryHealed: Watch canary: writes come back again, after 60s.",
		}},
		{"the budget", []watchcanary.Status{stalled, spent, spent, stalled, spent}, false, []string{
			"CanaryStalled: Watch canary: reason of Stalled.", "RestartBudgetSpent: Watch canary: no more restarts.", "RestartBudgetSpent: Watch canary: no more restarts.",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			var w canaryWatch
			p, c := newTestPending(noon)
			tell := func() {
				for n, has := p.rest(c.Now()); has; n, has = p.rest(c.Now()) {
					got = append(got, n.reason.String()+": "+n.message())
				}
			}
			for _, st := range tt.in {
				w.look(st, c.Now(), p)
				w.look(st, c.Now().Add(tick), p)
				if !tt.slow {
					tell()
				}
				c.Step(time.Minute)
			}
			tell()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\nof %v", diff, strings.Join(got, "\n"))
			}
		})
	}
}
