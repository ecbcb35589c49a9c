// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// result is what a test measured. Seconds count from the fault; null means never.
type result struct {
	Scenario string             `json:"scenario"`
	Server   string             `json:"server"`
	Guarded  *guardedResult     `json:"guarded,omitempty"`
	Stock    *stockResult       `json:"stock,omitempty"`
	Figures  map[string]float64 `json:"figures,omitempty"` // of tests that are no scenario
	// Slow says why the machine was too slow for the figures to count.
	Slow string `json:"slow,omitempty"`
}

type guardedResult struct {
	Detected        *float64            `json:"detected_s"`
	Healed          *float64            `json:"healed_s"` // the edit is in the cache
	Fresh           *float64            `json:"fresh_s"`  // and that is proven
	Requests        int64               `json:"requests"` // from the fault until fresh
	RelistedObjects int64               `json:"relisted_objects"`
	Verdicts        []freshness.Verdict `json:"verdicts"`
	Cures           []freshness.Rung    `json:"cures"`
	LongestGap      float64             `json:"longest_time_between_proofs_s"`
}

type stockResult struct {
	Seen   *float64 `json:"seen_s"`
	Waited float64  `json:"waited_s"`
}

// results collects what all tests measured.
var results resultList

type resultList struct {
	mu  sync.Mutex
	all []result
}

// add notes an outcome, and tells it with -v.
func (l *resultList) add(t testing.TB, scenario, server string, o outcome) {
	t.Helper()
	l.note(t, result{
		Scenario: scenario, Server: server, Slow: o.slow,
		Guarded: &guardedResult{
			Detected: secondsOrNever(o.detected), Healed: secondsOrNever(o.seen), Fresh: secondsOrNever(o.fresh),
			Requests: o.requests, RelistedObjects: o.refilled,
			Verdicts: o.history.verdicts(), Cures: o.history.cures(freshness.CureStarted),
			LongestGap: seconds(o.provenEvery),
		},
		Stock: &stockResult{Seen: secondsOrNever(o.stockSeen), Waited: seconds(o.waited)},
	})
}

// figures notes what a test has measured that is no scenario.
func (l *resultList) figures(t testing.TB, figures map[string]float64) {
	t.Helper()
	l.note(t, result{Scenario: t.Name(), Server: serverName(), Figures: figures})
}

func (l *resultList) note(t testing.TB, r result) {
	t.Helper()
	l.mu.Lock()
	l.all = append(l.all, r)
	l.mu.Unlock()
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", line)
}

// writeFile writes the results as JSON, if it is given a name.
func (l *resultList) writeFile(name string) error {
	if name == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortFunc(l.all, func(a, b result) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Scenario, b.Scenario))
	})
	out, err := json.MarshalIndent(l.all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(out, '\n'), 0o644)
}

// seconds rounds for people.
func seconds(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

func secondsOrNever(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	s := seconds(d)
	return &s
}
