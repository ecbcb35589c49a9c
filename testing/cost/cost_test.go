// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/freshness"
)

func TestParseFlags(t *testing.T) {
	defaults := options{kinds: 1000, namespaces: 1, settle: 90 * time.Second, measure: 5 * time.Minute, limits: []limit{{}}, programs: []string{stock, monitored}}
	limited := defaults
	limited.kinds, limited.namespaces, limited.limits, limited.programs = 250, 4, []limit{{}, {20, 30}, {2.5, 10}}, []string{monitored}
	for args, want := range map[string]options{
		"": defaults,
		"-kinds 250 -namespaces 4 -limits off,20/30,2.5/10 -programs monitor": limited,
	} {
		got, err := parseFlags(strings.Fields(args), io.Discard)
		if err != nil {
			t.Errorf("%q: %v", args, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{}, limit{})); diff != "" {
			t.Errorf("%q: -want +got\n%s", args, diff)
		}
	}
	for _, args := range []string{"-kinds 0", "-namespaces 0", "-measure 0s", "-settle -1s", "-limits 5", "-limits 0/1", "-limits 5/0", "-limits x/y", "-programs other", "-unknown", "more"} {
		if _, err := parseFlags(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}

func TestPurpose(t *testing.T) {
	for url, want := range map[string]string{
		"/apis/g/v1/namespaces/n/ks?allowWatchBookmarks=true&watch=true": forWatch,
		"/apis/g/v1/namespaces/n/ks?fieldSelector=x&limit=1":             forProof,
		"/apis/g/v1/namespaces/n/ks?limit=1&resourceVersion=0":           forProof,
		"/apis/g/v1/namespaces/n/ks?limit=500&resourceVersion=0":         forList,
		"/apis/g/v1/namespaces/n/ks?sendInitialEvents=true&watch=true":   forWatch,
		"/apis/g/v1/namespaces/n/ks?fieldSelector=x&watch=true":          forProof,
		"/apis/g/v1/namespaces/n/ks/only":                                forUser,
	} {
		r, err := http.NewRequest(http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got := purpose(r); got != want {
			t.Errorf("%s is for %s, want %s", url, got, want)
		}
	}
}

func TestMeterCountsWhatLiesWithin(t *testing.T) {
	m := &meter{}
	now := time.Now()
	m.count(forProof, now.Add(-time.Hour))
	m.count(forProof, now.Add(-time.Hour))
	begun := m.begin()
	begun.at = now.Add(-10 * time.Second)
	for range 5 {
		m.count(forProof, now.Add(-5*time.Second))
	}
	m.count(forWatch, now)
	f := m.figures(begun)
	if f.BusiestSecond != 5 || f.BusiestSecondEver != 5 || !strings.HasPrefix(f.PerSecondOfMinute, "0 0 0 0 0 5 0 ") {
		t.Errorf("5 proofs at once: %+v", f)
	}
	if f.ProofsPerSecond < 0.4 || f.ProofsPerSecond > 0.5 || f.WatchesPerSecond < 0.08 || f.WatchesPerSecond > 0.1 {
		t.Errorf("5 proofs and a watch in 10 s: %+v", f)
	}
}

func TestBusiest(t *testing.T) {
	at := func(ms ...int) []time.Time {
		var out []time.Time
		for _, m := range ms {
			out = append(out, time.UnixMilli(int64(m)))
		}
		return out
	}
	for _, c := range []struct {
		name    string
		moments []time.Time
		want    int
	}{
		{"none", nil, 0},
		{"a second apart", at(0, 1000, 2000), 1},
		{"just less than a second apart", at(0, 999, 1998), 2},
		{"across the end of a second, out of order", at(1100, 900, 1200, 800, 5000), 4},
		{"some outside", at(-1, 0, 10_001), 1},
	} {
		if got := busiest(c.moments, time.UnixMilli(0), time.UnixMilli(10_000)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	sorted := []time.Duration{time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond, 40 * time.Millisecond}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.99: 40, 1: 40} {
		if got := quantile(sorted, q); got != want {
			t.Errorf("quantile %g is %g ms, want %g", q, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: %g", got)
	}
}

func TestServerAccount(t *testing.T) {
	var a serverAccount
	a.read([]byte(`# HELP apiserver_request_total Counter
apiserver_request_total{code="200",verb="LIST"} 40
apiserver_request_total{code="200",verb="WATCH"} 2
process_cpu_seconds_total 12.5
process_resident_memory_bytes 3e+08
something_else 7
`))
	want := serverAccount{requests: 42, cpu: 12.5, residents: 3e8}
	if diff := cmp.Diff(want, a, cmp.AllowUnexported(serverAccount{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestWitnessKnowsTheLargestBound(t *testing.T) {
	w := newWitness()
	begin := time.Now()
	proven := func(s int, asOf int) freshness.Event {
		return freshness.Event{Type: freshness.Proven, Time: begin.Add(time.Duration(s) * time.Second), FreshAsOf: begin.Add(time.Duration(asOf) * time.Second)}
	}
	w.see(proven(0, -1000))
	w.see(proven(2, 1)) // both before the measurement
	w.begin()
	w.see(proven(62, 60))
	w.see(proven(100, 99))
	w.see(freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Suspect})
	w.see(freshness.Event{Type: freshness.CureStarted})
	if w.bound != 61*time.Second || w.proofs != 2 || w.cures != 1 || w.verdicts["Suspect"] != 1 {
		t.Errorf("bound %v, want 1m1s; %d proofs, want 2; %d cures, want 1; verdicts %v", w.bound, w.proofs, w.cures, w.verdicts)
	}
}

func TestReportKeepsPromisesToAccount(t *testing.T) {
	plain := &figures{Program: stock, Limit: "off", CPUPercent: 1, WatchesPerSecond: 2.5}
	good := &figures{Program: monitored, Limit: "off", CPUPercent: 1.9, WatchesPerSecond: 2.5, ProofsPerSecond: 17, BusiestSecond: 34, LargestBound: 63}
	if rep := judged(plain, good); len(rep.Promises) != 4 || rep.broken() != nil {
		t.Errorf("all promises are kept: %v, %+v", rep.broken(), rep.Promises)
	}
	for name, spoil := range map[string]func(*figures){
		"requests": func(f *figures) { f.WatchesPerSecond += 4 },
		"CPU":      func(f *figures) { f.CPUPercent += 0.2 },
		"bound":    func(f *figures) { f.LargestBound = 75.1 },
		"busiest":  func(f *figures) { f.BusiestSecond = 100 },
	} {
		bad := *good
		spoil(&bad)
		err := judged(plain, &bad).broken()
		if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), name) {
			t.Errorf("a broken promise about %s: %v", name, err)
		}
	}
	limited := &figures{Program: monitored, Limit: "5/10", LargestBound: 1000}
	if rep := judged(plain, good, limited); rep.broken() != nil {
		t.Errorf("a process with a rate limit was held to the promises: %v", rep.broken())
	}
	if rep := judged(good); len(rep.Promises) != 0 {
		t.Errorf("nothing to compare with: %+v", rep.Promises)
	}
	table := judged(plain, good).table()
	for _, want := range []string{"stock", "17.00", "63.0", "kept"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

func judged(f ...*figures) *report {
	r := newReport(options{kinds: 1000, namespaces: 1})
	r.Processes = f
	r.judge()
	return r
}
