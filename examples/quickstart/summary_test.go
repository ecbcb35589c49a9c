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

const sec = time.Second

// asPromised returns an outcome that keeps every promise of a fault.
func asPromised(name string) outcome {
	saw := func(configMap time.Duration) map[object]time.Duration {
		return map[object]time.Duration{settings: configMap, gadget: 6 * time.Millisecond}
	}
	o := outcome{
		fault: name, waited: 80 * sec, spared: true, fresh: true,
		stock:   side{seen: saw(60 * sec)},
		guarded: side{seen: saw(60 * sec), cost: cost{requests: map[string]int{"list": 4, "watch": 1}}},
	}
	switch name {
	case "stream":
		delete(o.stock.seen, settings)
		o.detected = 59 * sec
		o.verdicts = []freshness.Verdict{freshness.Stalled, freshness.Fresh}
		o.cures = []cure{{freshness.Resume, 59 * sec, true}}
	case "blackhole":
		o.guarded.seen = saw(16 * sec)
		o.guarded.cost = cost{requests: map[string]int{"watch": 2}}
		o.stock.cost.relisted = 53
	case "etcd-watch":
		o.detected, o.lifted = 40*sec, 60*sec
		o.verdicts = []freshness.Verdict{freshness.Suspect, freshness.ControlPlaneStalled, freshness.Fresh}
		o.cures = []cure{{freshness.Resume, 61 * sec, true}}
	case "none":
		o.stock.seen, o.guarded.seen = nil, nil
		o.waited = 5 * time.Minute
		o.quiet = quiet{proofs: 5, longestGap: 61 * sec, largestBound: freshness.DefaultMaxStaleness}
	}
	return o
}

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		fault, name string
		but         func(o *outcome)
		want        string // empty: none
	}{
		{fault: "stream", name: "as promised"},
		{"stream", "at the limit", func(o *outcome) { o.guarded.seen[settings] = 75 * sec }, ""},
		{"stream", "past the limit", func(o *outcome) { o.guarded.seen[settings] = 75*sec + 1 }, "promised are 75.0 s"},
		{"stream", "never healed", func(o *outcome) { delete(o.guarded.seen, settings) }, "did not see"},
		{"stream", "cured by another rung", func(o *outcome) { o.cures[0].rung = freshness.Relist }, "cures tried: relist"},
		{"stream", "cured at the second try", func(o *outcome) { o.cures = append(o.cures, o.cures[0]) }, "cures tried: resume, resume"},
		{"stream", "cure not proven", func(o *outcome) { o.cures[0].worked = false }, "one resume"},
		{"stream", "not cured", func(o *outcome) { o.cures = nil }, "cures tried: none"},
		{"stream", "relisted", func(o *outcome) { o.guarded.cost.relisted = 1 }, "1 objects were listed again"},
		{"stream", "wrong informer", func(o *outcome) { o.spared = false }, "Widgets"},
		{"stream", "liveness", func(o *outcome) { o.liveness = errors.New("x") }, "liveness"},
		{"stream", "stock saw it", func(o *outcome) { o.stock.seen[settings] = sec }, "the fault was none"},

		{fault: "blackhole", name: "as promised"},
		{"blackhole", "at the limit", func(o *outcome) { o.guarded.seen[settings] = 20 * sec }, ""},
		{"blackhole", "past the limit", func(o *outcome) { o.guarded.seen[settings] = 20*sec + 1 }, "promised are 20.0 s"},
		{"blackhole", "relisted", func(o *outcome) { o.guarded.cost.relisted = 1 }, "1 objects were listed again"},
		{"blackhole", "stock as good", func(o *outcome) { o.stock.seen[settings] = 16 * sec }, "no later"},
		{"blackhole", "not seen", func(o *outcome) { delete(o.guarded.seen, settings) }, "did not see"},
		{"blackhole", "not fresh", func(o *outcome) { o.fresh = false }, "not proven fresh"},
		{"blackhole", "liveness", func(o *outcome) { o.liveness = errors.New("x") }, "liveness"},

		{fault: "etcd-watch", name: "as promised"},
		{"etcd-watch", "blamed itself", func(o *outcome) { o.verdicts = []freshness.Verdict{freshness.Stalled} }, "ControlPlaneStalled"},
		{"etcd-watch", "cured early", func(o *outcome) { o.cures[0].at = 60*sec - 1 }, "what it cannot"},
		{"etcd-watch", "cured at the end", func(o *outcome) { o.cures[0].at = 60 * sec }, ""},
		{"etcd-watch", "cured, never lifted", func(o *outcome) { o.lifted = 0 }, "what it cannot"},
		{"etcd-watch", "wrong informer", func(o *outcome) { o.spared = false }, "Widgets"},
		{"etcd-watch", "liveness", func(o *outcome) { o.liveness = errors.New("x") }, "liveness"},
		{"etcd-watch", "not fresh", func(o *outcome) { o.fresh = false }, "not well again"},
		{"etcd-watch", "not frozen", func(o *outcome) { o.guarded.seen[settings] = sec }, "the fault was none"},

		{fault: "none", name: "as promised"},
		{"none", "cure", func(o *outcome) { o.cures = []cure{{rung: freshness.Resume}} }, "what is well: resume"},
		{"none", "verdict", func(o *outcome) { o.verdicts = []freshness.Verdict{freshness.Suspect} }, "on ConfigMaps: Suspect"},
		{"none", "verdict on Widgets", func(o *outcome) { o.spared = false }, "other verdicts"},
		{"none", "bound", func(o *outcome) { o.quiet.largestBound++ }, "promised are 75.0 s"},
		{"none", "liveness", func(o *outcome) { o.liveness = errors.New("x") }, "liveness"},
	} {
		t.Run(test.fault+"/"+test.name, func(t *testing.T) {
			f, err := faultNamed(test.fault)
			if err != nil {
				t.Fatal(err)
			}
			o := asPromised(test.fault)
			if test.but != nil {
				test.but(&o)
			}
			got := strings.Join(f.failures(o), "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("failures:\n%s\nwant %q", got, test.want)
			}
		})
	}
}

func TestMayCome(t *testing.T) {
	f := fault{warmUp: 10 * sec, proofs: 2}
	good := freshness.Status{Verdict: freshness.Fresh, Since: at(0), Proofs: 2}
	for _, test := range []struct {
		name string
		but  func(st *freshness.Status)
		want bool
	}{
		{"fresh for long enough", func(*freshness.Status) {}, true},
		{"a moment too early", func(st *freshness.Status) { st.Since = at(0).Add(1) }, false},
		{"not fresh", func(st *freshness.Status) { st.Verdict = freshness.Syncing }, false},
		{"too few proofs", func(st *freshness.Status) { st.Proofs = 1 }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			second := good
			test.but(&second)
			if got := f.mayCome(at(10), []freshness.Status{good, second}); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
	if f.mayCome(at(10), []freshness.Status{good}) {
		t.Error("the fault may come while one informer is not there yet")
	}
}

func TestSummary(t *testing.T) {
	want := `
Summary, in seconds since the fault:
                              guarded                                       stock
  saw the edited Widget       +0.0s                                         +0.0s
  saw the edited ConfigMap    +60.0s                                        not in 80.0 s
  noticed the fault           +59.0s                                        never
  requests until it saw it    5 (4 list, 1 watch)                           0
  verdicts on ConfigMaps      Fresh, Stalled                                -
  cures tried                 resume                                        -
  objects listed again        0                                             0
  liveness probe              green                                         green

What it means
` + stream().meaning + `

The guarded operator did what is promised of it.
`
	if diff := cmp.Diff(want, summarise(stream(), asPromised("stream"), nil)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestSummaryOfFailures(t *testing.T) {
	o := asPromised("none")
	o.liveness = errors.New("stalled")
	got := summarise(none(), o, []string{"its liveness probe failed", strings.Repeat("word ", 30)})
	for _, want := range []string{
		"did NOT do", "  - its liveness probe failed\n", "liveness probe              FAILED: stalled", "longest time between two  61.0 s",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, none().meaning) {
		t.Error("says what it would mean had it gone well")
	}
	wantNarrow(t, got)
}

func TestTextsAreNarrow(t *testing.T) {
	for _, f := range faults() {
		wantNarrow(t, introduce(f, f.limit, false))
		wantNarrow(t, summarise(f, asPromised(f.name), nil))
		wantNarrow(t, formatEntry(time.Hour, "fault", f.title, false))
	}
}

func TestIntroductionSaysHowLongItTakes(t *testing.T) {
	for _, test := range []struct {
		limit   time.Duration
		exactly bool
		want    string
	}{
		{2 * time.Minute, false, "about 1m40s."},
		{30 * time.Minute, true, "about 30m20s."},
		{40 * sec, true, "about 1m."},
	} {
		if got := introduce(stream(), test.limit, test.exactly); !strings.Contains(got, test.want) {
			t.Errorf("for %v (exactly: %t) no %q in\n%s", test.limit, test.exactly, test.want, got)
		}
	}
}
