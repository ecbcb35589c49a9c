// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"strings"
	"testing"
	"time"
)

// A rule that is broken on purpose is noticed: a fleet that says nothing is worth
// something only if it could.
func TestFleetNoticesBrokenRules(t *testing.T) {
	for _, tt := range []struct {
		name   string
		tamper tamper
		want   string // in what some informer's life ends with
	}{
		{"a proof is accepted before the store has reached it", tamper{
			answer: func(_ *state, kind actionKind, a *answer) {
				if kind == actRead && a.err == nil {
					a.rv = a.stored
				}
			},
		}, "claims to hold every change"},
		{"a proof is dated by its answer", tamper{
			answer: func(_ *state, kind actionKind, a *answer) {
				if kind == actRead {
					a.sent = a.received
				}
			},
		}, "claims to hold every change"},
		{"the bound counts the last look, not the last proof", tamper{
			after: func(s *state, o observation) {
				if !s.freshAsOf.IsZero() {
					s.freshAsOf = o.now
				}
			},
		}, "claims to hold every change"},
		{"nothing is ever doubted, and proofs may be as old as they like", tamper{
			before: func(s *state, o observation) {
				s.doubt, s.maxStaleness = nil, time.Hour
				if s.pending != nil {
					s.pending.due, s.pending.limit = o.now.Add(time.Hour), o.now.Add(time.Hour)
				}
			},
		}, "is not noticed"},
		{"a doubt has nothing cured", tamper{
			before: func(s *state, _ observation) { s.cures = nil },
		}, "is not healed"},
		{"bookmarks are due too soon", tamper{
			before: func(s *state, o observation) {
				if s.pending != nil && s.pending.due.After(o.now.Add(time.Second)) {
					s.pending.due = o.now.Add(time.Second)
				}
			},
		}, "nothing is wrong"},
		{"a pause is not forgiven", tamper{
			before: func(s *state, o observation) {
				if !s.swept.IsZero() {
					s.swept = o.now.Add(-s.tick)
				}
			},
		}, "nothing is wrong"},
		{"an API server is never behind", tamper{
			answer: func(s *state, kind actionKind, a *answer) {
				if kind == actProbe && s.doubt != nil {
					a.rv = s.doubt.proof.rv
				}
			},
		}, "claims to hold every change"},
		{"an API server is always behind", tamper{
			answer: func(_ *state, kind actionKind, a *answer) {
				if kind == actProbe {
					a.rv = "1"
				}
			},
		}, "no watch cache is frozen"},
		{"liveness fails with the first conviction", tamper{
			after: func(s *state, o observation) {
				if d := s.doubt; d != nil && !d.blamed.IsZero() {
					d.blamed, d.ladder.tried = o.now.Add(-time.Hour), 10
				}
			},
		}, "liveness fails"},
		{"a lost informer is relisted at once", tamper{
			before: func(s *state, _ observation) {
				if d := s.doubt; d != nil && d.ladder.tried == 0 {
					d.ladder.tried = 1
				}
			},
		}, "cured by relist, and nothing is wrong"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := fleetOptions{lasts: 24 * time.Hour, perProcess: 4, harshness: 6, skips: true, tamper: tt.tamper}
			var seen []string
			for n := range 40 {
				l := live(11, n, o)
				if strings.Contains(l.judge.broken, tt.want) {
					return
				}
				if l.judge.broken != "" {
					seen = append(seen, l.judge.broken)
				}
			}
			t.Errorf("no informer's life ended with %q; what they ended with:\n%s", tt.want, strings.Join(seen, "\n"))
		})
	}
}
