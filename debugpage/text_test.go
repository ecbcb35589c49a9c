// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/internal/snapshots"
)

func TestLong(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 ms", 400 * time.Microsecond: "0 ms", 84 * time.Millisecond: "84 ms", 999*time.Millisecond + 600*time.Microsecond: "1000 ms",
		time.Second: "1 s", 2310 * time.Millisecond: "2.3 s", 10*time.Second - 1: "10.0 s", 59*time.Second + 999*time.Millisecond: "59 s",
		time.Minute: "1 min", 61 * time.Second: "1 min 1 s", time.Hour: "1 h", time.Hour + 59*time.Second: "1 h", 2*time.Hour + 5*time.Minute: "2 h 5 min",
		24 * time.Hour: "1 d", 75 * time.Hour: "3 d 3 h", 100 * 24 * time.Hour: "100 d",
	} {
		if got := strings.ReplaceAll(long(d), space, " "); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestMoments(t *testing.T) {
	now := snapshots.Now()
	for _, tt := range []struct {
		t          time.Time
		text, full string
	}{
		{time.Time{}, "never", ""},
		{now, "just now", "2026-03-14 03:09:26 UTC"},
		{now.Add(3 * time.Second), "just now", "2026-03-14 03:09:29 UTC"}, // two clocks
		{now.Add(-12900 * time.Millisecond), "12 s ago", "2026-03-14 03:09:13 UTC"},
		{now.Add(-time.Hour).In(time.FixedZone("x", 7200)), "1 h ago", "2026-03-14 02:09:26 UTC"},
	} {
		got := since(now, tt.t)
		if strings.ReplaceAll(got.Text, space, " ") != tt.text || got.Full != tt.full || (got.ISO == "") != tt.t.IsZero() {
			t.Errorf("%v: %+v", tt.t, got)
		}
	}
}

func TestSeconds(t *testing.T) {
	for in, want := range map[float64]time.Duration{1.5: 1500 * time.Millisecond, math.NaN(): 0} {
		if got := seconds(in); got != want {
			t.Errorf("%v: %v", in, got)
		}
	}
	if seconds(math.NaN()) != 0 || seconds(math.Inf(1)) <= 0 || seconds(math.Inf(-1)) >= 0 {
		t.Error("what is no duration is made one that is wrong")
	}
}

func TestShown(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""}, {"abc", "abc"}, {"abcde", "abcde"}, {"abcdef", "abcd…"}, {"äöüß€", "äöüß€"}, {"äöüß€x", "äöüß…"}, {"a\xffb", "a\uFFFDb"},
	} {
		if got := shown(tt.in, 5); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := shown(strings.Repeat("\U0001F600", 1<<20), 5); utf8.RuneCountInString(got) != 5 || !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}

func TestNumber(t *testing.T) {
	for in, want := range map[int]string{0: "0", 12: "12", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := number(in); got != want {
			t.Errorf("%d: %s", in, got)
		}
	}
}

func TestBar(t *testing.T) {
	for _, tt := range []struct {
		name         string
		bound, limit float64
		unproven     bool
		want         bar
	}{
		{name: "not proven", bound: 5, limit: 75, unproven: true, want: bar{Text: "not proven yet"}},
		{name: "no limit", bound: 5, want: bar{Text: "5 s"}},
		{name: "new", bound: 0, limit: 75, want: bar{true, "0.0", "0", "75", "0 s of 75 s"}},
		{name: "half", bound: 37.5, limit: 75, want: bar{true, "37.5", "37", "75", "37 s of 75 s"}},
		{name: "at the limit", bound: 75, limit: 75, want: bar{true, "75.0", "75", "75", "75 s of 75 s"}},
		{name: "beyond", bound: 88.9, limit: 75, want: bar{true, "88.9", "75", "75", "88 s of 75 s"}},
		{name: "far beyond", bound: 7500, limit: 75, want: bar{true, "100.0", "75", "75", "2 h 5 min of 75 s"}},
	} {
		in := flightrecorder.Informer{Bound: tt.bound, Limit: tt.limit, FreshAsOf: snapshots.Now()}
		if tt.unproven {
			in.FreshAsOf = time.Time{}
		}
		got := barOf(in)
		got.Text = strings.ReplaceAll(got.Text, space, " ")
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestIDs: they stay the same, and no two elements share one.
func TestIDs(t *testing.T) {
	a, b := ids{}, ids{}
	first := []string{a.of("informer", "pods/v1"), a.of("informer", "pods/v1"), a.of("informer", "nodes/v1")}
	second := []string{b.of("informer", "pods/v1"), b.of("informer", "pods/v1"), b.of("informer", "nodes/v1")}
	if !slices.Equal(first, second) || first[0] == first[1] || first[0] == first[2] {
		t.Errorf("%v, %v", first, second)
	}
}

// TestOrder: the worst informers come first, and within those it is by name.
func TestOrder(t *testing.T) {
	s := snapshots.Troubled()
	slices.Reverse(s.Informers)
	var got []string
	for _, i := range informersOf(s).Failing {
		got = append(got, string(i.Face.Mood)+" "+i.Name)
	}
	want := []string{
		"bad configmaps/v1 in prod", "bad deployments.apps/v1 in prod", "bad services/v1", "bad widgets.example.com/v1",
		"warn endpoints/v1", "warn pods/v1 in prod", "warn secrets/v1 in prod", "wait jobs.batch/v1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEveryVerdictHasAFace: a verdict that is new gets one that warns, and by its name.
func TestEveryVerdictHasAFace(t *testing.T) {
	icons := map[string]freshness.Verdict{}
	for v := freshness.Syncing; v <= freshness.Blind; v++ {
		f := faceOf(v)
		if other, ok := icons[f.Icon]; ok || f.Word != v.String() || f.Mood == "" {
			t.Errorf("%v: %+v, which is also that of %v", v, f, other)
		}
		icons[f.Icon] = v
		if !strings.Contains(iconsHTML, `id="`+f.Icon+`"`) {
			t.Errorf("%v: there is no icon %s", v, f.Icon)
		}
	}
	if f := faceOf(99); f.Mood != warn || f.Word != "Verdict(99)" {
		t.Errorf("%+v", f)
	}
}
