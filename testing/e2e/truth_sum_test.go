// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
	"time"
)

// truthSum is what all observers have seen.
type truthSum struct {
	writes, failedWrites int64
	samples, proofs      int
	oldest, bound        time.Duration
	honest               finding
	findings             []finding
}

func (s *truthStage) sum() truthSum {
	sum := truthSum{findings: make([]finding, len(wrong))}
	for _, a := range s.authors {
		sum.writes += a.written.Load()
		sum.failedWrites += a.failed.Load()
	}
	for _, o := range s.operators {
		for _, a := range s.authors {
			sum.proofs += o.proofs(a.kind)
			sum.add(o.observers[a.kind.resource()])
		}
	}
	return sum
}

func (s *truthSum) add(o *observer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.samples += o.samples
	s.oldest, s.bound = max(s.oldest, o.oldest), max(s.bound, o.bound)
	s.honest.add(o.honest)
	for i, f := range o.findings {
		s.findings[i].add(f)
	}
}

func (f *finding) add(o finding) {
	if o.weighed > 0 && (f.weighed == 0 || o.margin < f.margin) {
		f.margin = o.margin
	}
	f.violations += o.violations
	f.undecided += o.undecided
	f.weighed += o.weighed
	f.worst = max(f.worst, o.worst)
	if f.first == "" {
		f.first = o.first
	}
}

func (s truthSum) figures() map[string]float64 {
	out := map[string]float64{
		"samples": float64(s.samples), "proofs": float64(s.proofs),
		"writes": float64(s.writes), "writes_failed": float64(s.failedWrites),
		"largest_real_staleness_s": seconds(s.oldest),
		"largest_stated_bound_s":   seconds(s.bound),
		"violations":               float64(s.honest.violations),
		"undecided":                float64(s.honest.undecided),
		"missing_changes_weighed":  float64(s.honest.weighed),
		"tightest_margin_ms":       float64(s.honest.margin.Microseconds()) / 1000,
	}
	for i, c := range wrong {
		out["violations, "+c.name] = float64(s.findings[i].violations)
		out["worst_s, "+c.name] = seconds(s.findings[i].worst)
	}
	return out
}

// check wants the truth to bear the monitors out, and the observers to be able to
// tell: they have seen informers that were stale, and object to every wrong claim,
// those that are subtle only if they had the time.
func (s *truthStage) check(t *testing.T, sum truthSum, faults *faultLog, subtle bool) {
	t.Helper()
	for _, o := range s.operators {
		for _, a := range s.authors {
			f, samples := o.observers[a.kind.resource()].honestly()
			if f.violations > 0 {
				t.Errorf("%s, %s: %d violations, the worst by %v; the first: %s\n%v",
					o.name, a.kind.resource(), f.violations, f.worst, f.first, o.history(a.kind))
			}
			if samples == 0 {
				t.Errorf("%s, %s: never looked at", o.name, a.kind.resource())
			}
		}
	}
	if least := 5 * time.Second; sum.oldest < least {
		t.Errorf("the largest real staleness was %v, want more than %v: there was nothing to be wrong about\n%s", sum.oldest, least, strings.Join(faults.lines, "\n"))
	}
	for i, c := range wrong {
		if sum.findings[i].violations == 0 && (subtle || !c.subtle) {
			t.Errorf("nobody objected to a bound that is wrong: %s", c.name)
		}
	}
}
