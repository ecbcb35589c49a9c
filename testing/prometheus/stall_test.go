// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

const (
	stalled, healthy = "stalled", "healthy" // programs
	stallAlert       = "FreshwatchInformerStalled"
)

// One watch of one of two operators falls silent. Prometheus, which has the alerts with a
// second for each minute, tells of it, and of nothing else; the other operator is the
// negative control, and so is the time before. Meanwhile every panel of the dashboard, and
// every rule, is asked, and has an answer where there has to be one.
func TestStall(t *testing.T) {
	realplane.Test(t)
	rules := ruleFiles(t)
	for name, text := range rules {
		rules[name] = strings.ReplaceAll(hurried(text), "<= 120", "<= 20") // for a MaxStaleness of 15 s, not 75
	}
	plane := startPlane(t)
	server := startServer(t, time.Second, rules)
	a, b := newProgram(t, plane, stalled, spec{Hasty: true}), newProgram(t, plane, healthy, spec{Hasty: true})
	a.start(t)
	b.start(t)
	server.scrape(t, a, b)

	await(t, patience, "both are proven, and their canaries have come back", func() bool {
		return server.has(t, `group by (job) (freshwatch_informer_verdict{resource="configmaps",verdict="Fresh"} == 1)`, 2) &&
			server.has(t, `group by (job) (freshwatch_canary_state{state="Fresh"} == 1)`, 2) &&
			server.has(t, `group by (job) (freshwatch_generation_read_age_seconds)`, 2)
	})
	stop := editAll(t, a, b)
	await(t, patience, "edits are observed, and more than one, so that there is an increase", func() bool {
		return server.has(t, `freshwatch_generation_propagation_seconds_count > 1`, 2)
	})
	server.wantAnswers(t)
	stop()
	if pages := server.pages(t); len(pages) > 0 {
		t.Errorf("nothing is wrong yet, and there are pages: %v", pages)
	}
	expr := exprOf(t, rules, stallAlert)
	if got := server.mustQuery(t, expr); len(got) > 0 {
		t.Errorf("nothing stalls yet, and %s says %v", stallAlert, got)
	}

	begin := time.Now()
	fault := a.silence(false)
	if err := a.edit(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	await(t, patience, stallAlert+" fires", func() bool {
		return slices.Contains(server.pages(t), stallAlert+" firing "+stalled)
	})
	told := time.Since(begin)
	if got := server.mustQuery(t, expr); len(got) != 1 || got[0].Metric["job"] != stalled || got[0].Metric["resource"] != "configmaps" {
		t.Errorf("%s says %v, want one stall, of %s", stallAlert, got, stalled)
	}
	fault.Lift()
	await(t, patience, "the stall is healed", func() bool {
		return server.has(t, `freshwatch_informer_verdict{job="stalled",resource="configmaps",verdict="Fresh"} == 1`, 1)
	})
	healed := time.Since(begin)
	if got := server.mustQuery(t, fmt.Sprintf(`ALERTS{severity="page",job!=%q}[10m]`, stalled)); len(got) > 0 {
		t.Errorf("nothing was wrong with %s, and there was %v", healthy, got)
	}
	t.Logf("told after %v, healed after %v", told.Round(100*time.Millisecond), healed.Round(100*time.Millisecond))
}

// editAll edits objects of all programs again and again, until it is told to stop.
func editAll(t *testing.T, programs ...*program) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 1; ctx.Err() == nil; n++ {
			for _, pr := range programs {
				if err := pr.edit(ctx, n); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
			poll.Until(ctx, 3*time.Second, func() bool { return false })
		}
	})
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	return stop
}

// has tells whether a query has so many results.
func (s *server) has(t *testing.T, expr string, n int) bool {
	t.Helper()
	return len(s.mustQuery(t, expr)) == n
}

// pages returns the alerts that page, pending or firing, with their state and job. The
// others may tell of the first seconds of a program, which count for minutes here.
func (s *server) pages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, sr := range s.mustQuery(t, `ALERTS{severity="page"}`) {
		out = append(out, fmt.Sprintf("%s %s %s", sr.Metric["alertname"], sr.Metric["alertstate"], sr.Metric["job"]))
	}
	return out
}

// wantAnswers fails unless every query of the dashboard has a result for each program, and
// every recording rule, and every metric of every rule, and Prometheus has evaluated all
// rules without an error.
func (s *server) wantAnswers(t *testing.T) {
	t.Helper()
	asked := 0
	for _, job := range []string{stalled, healthy} {
		for _, q := range questions(t, job) {
			asked++
			s.wantAnswer(t, q.panel, q.expr)
		}
	}
	for _, text := range ruleFiles(t) {
		for _, r := range parseRules(t, text) {
			asked++
			if r.Record != "" {
				s.wantAnswer(t, r.Record, r.Record)
				continue
			}
			if _, err := s.query(t.Context(), r.Expr); err != nil {
				t.Errorf("%s: %v", r.Alert, err)
			}
			for name := range s.selectors(t, r.Expr) {
				s.wantAnswer(t, r.Alert, name)
			}
		}
	}
	for _, r := range s.ruleHealth(t) {
		if !strings.HasSuffix(r, " ok") {
			t.Error(r)
		}
	}
	t.Logf("%d queries", asked)
}

// wantAnswer fails unless a query has a result, and all of it is numbers, within a while:
// increases take two scrapes.
func (s *server) wantAnswer(t *testing.T, of, expr string) {
	t.Helper()
	var got []series
	if !poll.Until(t.Context(), 20*time.Second, func() bool {
		got = s.mustQuery(t, expr)
		return len(got) > 0 && !slices.ContainsFunc(got, func(sr series) bool { return sr.Value.value() == "NaN" })
	}) {
		t.Errorf("%s: %s\nhas no answer, or no number: %v", of, expr, got)
	}
}

func exprOf(t *testing.T, rules map[string]string, alert string) string {
	t.Helper()
	for _, text := range rules {
		for _, r := range parseRules(t, text) {
			if r.Alert == alert {
				return r.Expr
			}
		}
	}
	t.Fatalf("no rule %s", alert)
	return ""
}
