// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/freshness"
)

// stalled is how a silent stream should end.
func stalled() (expectation, outcome) {
	w := expectation{
		detected: promise, says: []freshness.Verdict{freshness.Stalled, freshness.Fresh}, never: notServer(), words: []string{"dead"},
		must: renewal(), may: []freshness.Rung{freshness.Relist}, healed: promise, inTime: true, blind: true, sooner: true, requests: 10,
	}
	o := newOutcome()
	o.fault = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o.detected, o.edited, o.seen, o.healed, o.ended, o.requests, o.named = 62*time.Second, 0, 65*time.Second, 66*time.Second, 100*time.Second, 4, true
	o.history = history{
		o.at(62*time.Second, event{Type: int(freshness.VerdictChanged), Verdict: int(freshness.Stalled)}),
		o.at(63*time.Second, event{Type: int(freshness.CureStarted), Cure: int(freshness.Resume)}),
		o.at(65*time.Second, event{Type: int(freshness.CureProven), Cure: int(freshness.Resume)}),
		o.at(66*time.Second, event{Type: int(freshness.VerdictChanged), Verdict: int(freshness.Fresh)}),
	}
	return w, o
}

func (o outcome) at(d time.Duration, e event) event {
	e.At = o.fault.Add(d)
	return e
}

func TestCheck(t *testing.T) {
	cure := func(r freshness.Rung) event { return event{Type: int(freshness.CureStarted), Cure: int(r)} }
	for _, tc := range []struct {
		name string
		with func(w *expectation, o *outcome)
		want string // a part of the only complaint; empty: none
	}{
		{"as it should be", func(*expectation, *outcome) {}, ""},
		{"not played", func(_ *expectation, o *outcome) { o.broken = errors.New("no port") }, "no port"},
		{"detected at the bound", func(_ *expectation, o *outcome) { o.detected = promise }, ""},
		{"detected late", func(_ *expectation, o *outcome) { o.detected = promise + 1 }, "detected after"},
		{"not detected", func(_ *expectation, o *outcome) { o.detected = never }, "not detected"},
		{"need not be detected", func(w *expectation, o *outcome) { w.detected, o.detected = 0, never }, ""},
		{"healed at the bound", func(_ *expectation, o *outcome) { o.healed = promise }, ""},
		{"healed late", func(_ *expectation, o *outcome) { o.healed = promise + 1 }, "healed after"},
		{"not healed", func(_ *expectation, o *outcome) { o.healed = never }, "not healed"},
		{"healed in time after the end", func(w *expectation, o *outcome) {
			w.inTime, o.lifted, o.healed = false, 100*time.Second, 100*time.Second+promise
		}, ""},
		{"healed late after the end", func(w *expectation, o *outcome) {
			w.inTime, o.lifted, o.healed = false, 100*time.Second, 100*time.Second+promise+1
		}, "after the end"},
		{"healed late after an edit that came after the end", func(w *expectation, o *outcome) {
			w.inTime, o.lifted, o.edited, o.healed = false, 100*time.Second, 101*time.Second, promise+1
		}, "after the end"},
		{"wrong order", func(w *expectation, _ *outcome) {
			w.says = []freshness.Verdict{freshness.Fresh, freshness.Stalled}
		}, "in that order"},
		{"verdict that must not be", func(w *expectation, _ *outcome) { w.never = []freshness.Verdict{freshness.Stalled} }, "the verdict was Stalled"},
		{"no such sentence", func(_ *expectation, o *outcome) { o.named = false }, `"dead"`},
		{"liveness", func(_ *expectation, o *outcome) { o.unhealthy = "stalled" }, "liveness failed"},
		{"liveness that has to fail", func(w *expectation, _ *outcome) { w.unhealthy = true }, "liveness did not fail"},
		{"not cured", func(w *expectation, _ *outcome) { w.must = append(w.must, freshness.Reconnect) }, "reconnect was not proven"},
		{"cure that may be", func(_ *expectation, o *outcome) {
			o.history = append(o.history, o.at(70*time.Second, cure(freshness.Relist)))
		}, ""},
		{"cure that may not be", func(_ *expectation, o *outcome) {
			o.history = append(o.history, o.at(70*time.Second, cure(freshness.List)))
		}, "list was tried"},
		{"cure while the fault lasts", func(w *expectation, o *outcome) { w.patient, o.lifted = true, 64*time.Second }, "while the fault lasted"},
		{"cure after the fault", func(w *expectation, o *outcome) { w.patient, w.inTime, o.lifted = true, false, 63*time.Second }, ""},
		{"stock sees it, too, and later", func(w *expectation, o *outcome) { w.blind, o.stock = false, 70*time.Second }, ""},
		{"stock sees it sooner", func(w *expectation, o *outcome) { w.blind, o.stock = false, 64*time.Second }, "the guarded one after"},
		{"no fault", func(_ *expectation, o *outcome) { o.stock = 70 * time.Second }, "there was no fault"},
		{"stock sees it once the fault is over", func(_ *expectation, o *outcome) { o.lifted, o.stock = 69*time.Second, 70*time.Second }, ""},
		{"relisted", func(_ *expectation, o *outcome) { o.relisted = 1 }, "1 objects"},
		{"relisted as stock", func(w *expectation, o *outcome) { w.asStock, o.relisted, o.stockRelisted = true, 20, 20 }, ""},
		{"relisted more than stock", func(w *expectation, o *outcome) { w.asStock, o.relisted, o.stockRelisted = true, 21, 20 }, "to the stock informer 20"},
		{"may relist", func(w *expectation, o *outcome) { w.relists, o.relisted = true, 20 }, ""},
		{"requests at the bound", func(_ *expectation, o *outcome) { o.requests = 10 }, ""},
		{"requests", func(_ *expectation, o *outcome) { o.requests = 11 }, "11 requests"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, o := stalled()
			tc.with(&w, &o)
			got := w.check(o)
			switch {
			case tc.want == "" && len(got) > 0:
				t.Errorf("complaints %q, want none", got)
			case tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want)):
				t.Errorf("complaints %q, want one with %q", got, tc.want)
			}
		})
	}
}

func TestExpectationInWords(t *testing.T) {
	w, _ := stalled()
	want := `noticed within 1m30s; verdicts Stalled, Fresh; never ControlPlaneStalled, Blind, Unreachable; says "dead"; cured by resume; ` +
		`may try relist; healed within 1m30s though it lasts; nothing listed again; at most 10 requests; seen before stock sees it; ` +
		`stock does not see the edit meanwhile; liveness does not fail`
	if diff := cmp.Diff(want, w.String()); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}

func TestCuredBy(t *testing.T) {
	for _, tc := range []struct {
		name string
		with func(o *outcome)
		want string
	}{
		{"a cure", func(*outcome) {}, "resume"},
		{"nothing", func(o *outcome) { o.healed = never }, ""},
		{"the transport", func(o *outcome) { o.history, o.faulty = nil, []string{"ping"} }, "transport (ping)"},
		{"the end of the fault", func(o *outcome) { o.history, o.lifted = nil, 60*time.Second }, "end of the fault"},
		{"a watch renewed anyway", func(o *outcome) { o.history, o.renewed = nil, true }, "renewed watch"},
		{"client-go", func(o *outcome) { o.history = nil }, "client-go"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, o := stalled()
			tc.with(&o)
			if got := o.cured(); got != tc.want {
				t.Errorf("cured by %q, want %q", got, tc.want)
			}
		})
	}
}

func TestGravest(t *testing.T) {
	_, o := stalled()
	if got := o.history.gravest(freshness.Fresh); got != freshness.Stalled {
		t.Errorf("the gravest verdict is %v, want Stalled", got)
	}
	if got := history(nil).gravest(freshness.Syncing); got != freshness.Syncing {
		t.Errorf("the gravest verdict of a quiet start is %v, want Syncing", got)
	}
	for v := freshness.Syncing; !strings.Contains(v.String(), "("); v++ {
		if weight(v) < 0 {
			t.Errorf("%v has no weight", v)
		}
	}
}
