// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func TestJudge(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	configMaps := schema.GroupResource{Resource: "configmaps"}
	hot := types.NamespacedName{Namespace: "kube-system", Name: "hot"}
	quick := func(quorum, cache string) sample { return sample{quorum: quorum, cache: cache, took: time.Millisecond} }
	slow := func(quorum, cache string) sample {
		return sample{quorum: quorum, cache: cache, took: blockTimeout, progress: true}
	}
	with := func(s sample, live, cached string) sample {
		s.object, s.live, s.cached = hot, live, cached
		return s
	}
	alone := func(s sample) sample {
		s.progress = false
		return s
	}
	failed := func(err error) sample { return sample{err: err} }
	outage := errors.New("connection refused")

	for _, test := range []struct {
		name, why string
		samples   []sample
		want      verdict
		reason    string
	}{
		{"current", "the cache holds what was there", []sample{quick("10", "10")}, healthy, "at or past 10"},
		{"ahead", "something was written between the reads", []sample{quick("10", "11")}, healthy, ""},
		{"numbers, not text", "", []sample{quick("9", "10")}, healthy, ""},
		{"caught up", "a hiccup", []sample{slow("10", "5"), quick("12", "12")}, healthy, ""},
		{"healthy beside an outage", "one answer is enough", []sample{failed(outage), quick("10", "10")}, healthy, ""},

		{"late", "it moves", []sample{slow("10", "5"), slow("20", "6")}, late, "5, then 6"},
		{"late, then still", "it moved once", []sample{slow("10", "5"), slow("20", "6"), slow("30", "6")}, late, ""},
		{"late by a known change", "movement counts for more than what is missing",
			[]sample{with(slow("10", "5"), "9", "4"), with(slow("20", "8"), "19", "4")}, late, ""},

		{"frozen, waited for in vain", "the signature", []sample{slow("10", "5"), slow("20", "5")}, frozen, "at 5, behind 10 for 10s"},
		{"frozen, nothing else written", "a wait in vain needs no new write", []sample{slow("10", "5"), slow("10", "5")}, frozen, ""},
		{"frozen, refused", "429 instead of a wait", []sample{
			{quorum: "10", cache: "5", held: true, progress: true}, {quorum: "20", cache: "5", held: true, progress: true},
		}, frozen, ""},
		{"frozen, an old server", "it does not wait, but a change is missing",
			[]sample{with(quick("10", "5"), "9", "4"), with(quick("20", "5"), "19", "4")}, frozen, "it lacks 9 of kube-system/hot"},
		{"frozen, everything", "no quiet kind keeps up, but a change is missing",
			[]sample{alone(with(slow("10", "5"), "9", "4")), alone(with(slow("20", "5"), "19", "4"))}, frozen, ""},
		{"frozen, change seen later", "there was none at first",
			[]sample{alone(slow("10", "5")), alone(with(slow("20", "5"), "19", "4")), alone(with(slow("30", "5"), "29", "4"))}, frozen, "lacks 19"},
		{"frozen, object created since", "", []sample{with(quick("10", "5"), "9", ""), with(quick("20", "5"), "9", "")}, frozen, ""},

		{"one sample", "nothing is known of movement", []sample{slow("10", "5")}, unknown, "once"},
		{"quiet kind, no progress", "a datastore that does not report it",
			[]sample{alone(slow("10", "5")), alone(slow("20", "5"))}, unknown, "such as leases"},
		{"quiet kind, an old server", "the same without a wait", []sample{quick("10", "5"), quick("20", "5")}, unknown, "-object"},
		{"object that does not change", "the cache lacks nothing of it",
			[]sample{with(quick("10", "5"), "4", "4"), with(quick("20", "5"), "4", "4")}, unknown, ""},
		{"object that is gone", "neither has it", []sample{with(quick("10", "5"), "", ""), with(quick("20", "5"), "", "")}, unknown, ""},
		{"change only in the last sample", "it may be under way",
			[]sample{with(quick("10", "5"), "4", "4"), with(quick("20", "5"), "19", "4")}, unknown, ""},
		{"one of them quick", "every sample has to show it", []sample{slow("10", "5"), quick("20", "5")}, unknown, ""},
		{"one of them failed", "every sample has to show it", []sample{slow("10", "5"), failed(outage), slow("20", "5")}, unknown, "1 of 3"},
		{"cache went back", "another server, or a restored datastore", []sample{slow("10", "5"), slow("20", "4")}, unknown, "went back"},
		{"datastore went back", "", []sample{slow("10", "5"), slow("9", "5")}, unknown, "went back"},
		{"no numbers", "an aggregated API", []sample{quick("abc", "abc")}, unknown, "not"},
		{"none at all", "an aggregated API", []sample{quick("", "")}, unknown, "numbers"},
		{"an event was lost", "no matter of waiting", []sample{with(quick("10", "10"), "9", "4")}, unknown, "an event was lost"},
		{"event under way", "the object is newer than the cache claims to be", []sample{with(quick("10", "10"), "11", "4")}, healthy, ""},

		{"no answer", "", []sample{failed(outage), failed(outage)}, unreachable, "connection refused"},
		{"503", "", []sample{failed(apierrors.NewServiceUnavailable("starting"))}, unreachable, "starting"},
		{"429 of its own", "too much load", []sample{failed(apierrors.NewTooManyRequests("later", 1))}, unreachable, "later"},
		{"forbidden", "", []sample{failed(apierrors.NewForbidden(configMaps, "", errors.New("no role")))}, unknown, "no role"},
		{"unauthorized", "it answers, but not to this credential", []sample{failed(apierrors.NewUnauthorized("who?"))}, unknown, "who?"},
		{"no such kind", "", []sample{failed(apierrors.NewNotFound(configMaps, ""))}, unknown, ""},
		{"nothing asked", "", nil, unknown, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i := range test.samples {
				test.samples[i].at = start.Add(time.Duration(i) * 10 * time.Second)
			}
			got := judge(test.samples)
			if got.verdict != test.want || !strings.Contains(got.reason, test.reason) || got.reason == "" {
				t.Errorf("%s (%s): %q because %q, want %q and something with %q", test.name, test.why, got.verdict, got.reason, test.want, test.reason)
			}
		})
	}
}

func TestWaited(t *testing.T) {
	for _, test := range []struct {
		sample sample
		want   bool
	}{
		{sample{took: blockTimeout - 1}, false},
		{sample{took: blockTimeout}, true},
		{sample{held: true}, true},
	} {
		if got := test.sample.waited(); got != test.want {
			t.Errorf("%+v: %t, want %t", test.sample, got, test.want)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for _, test := range []struct {
		name   string
		err    error
		needed string
		ok     bool
	}{
		{"a cache that is behind", apierrors.NewTooManyRequests("Timeout: Too large resource version: 310, current: 291", 1), "310", true},
		{"load", apierrors.NewTooManyRequests("too many requests, please try again later", 1), "", false},
		{"another status", apierrors.NewTimeoutError("Too large resource version: 310, current: 291", 1), "", false},
		{"none", nil, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if needed, ok := tooLarge(test.err); needed != test.needed || ok != test.ok {
				t.Errorf("%q, %t; want %q, %t", needed, ok, test.needed, test.ok)
			}
		})
	}
}

func TestWorst(t *testing.T) {
	for _, test := range []struct {
		verdicts []verdict
		want     verdict
		exit     int
	}{
		{[]verdict{healthy}, healthy, 0},
		{[]verdict{healthy, late}, late, 0},
		{[]verdict{unknown, late}, unknown, 3},
		{[]verdict{unknown, unreachable}, unreachable, 2},
		{[]verdict{healthy, frozen, unreachable, unknown}, frozen, 1},
	} {
		if got := worst(test.verdicts); got != test.want || got.exit() != test.exit {
			t.Errorf("%v: %s and exit %d, want %s and %d", test.verdicts, got, got.exit(), test.want, test.exit)
		}
	}
}
