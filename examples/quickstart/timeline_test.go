// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/freshness"
)

// start is when the demos of the tests begin.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

var (
	configMapsInformer = freshness.Informer{Version: "v1", Resource: "configmaps"}
	widgetsInformer    = freshness.Informer{Group: "example.com", Version: "v1", Resource: "widgets"}
)

func TestTimeline(t *testing.T) {
	var out bytes.Buffer
	w := newWitness(newTimeline(&out))
	w.timeline.begin(at(0), "Before:")
	w.observe(freshness.Event{Time: at(0.5), Informer: widgetsInformer, Type: freshness.Proven, FreshAsOf: at(0.1)})
	w.observe(freshness.Event{
		Time: at(0.5), Informer: widgetsInformer, Type: freshness.VerdictChanged,
		Verdict: freshness.Fresh, Reason: "holds every change up to 0s ago",
	})
	w.observe(freshness.Event{Time: at(0.6), Informer: widgetsInformer, Type: freshness.Read, ResourceVersion: "7"})
	w.broke(at(10), "all goes quiet")
	w.timeline.entry(at(10), "edit", "ConfigMap settings becomes green")
	w.observe(freshness.Event{
		Time: at(72.5), Informer: configMapsInformer, Type: freshness.VerdictChanged,
		Previous: freshness.Fresh, Verdict: freshness.Stalled,
		Reason: "the API server has resourceVersion 290 in its cache, this informer is at 280: its stream is dead",
	})
	w.observe(freshness.Event{Time: at(72.5), Informer: configMapsInformer, Type: freshness.CureStarted, Cure: freshness.Resume})
	w.observe(freshness.Event{Time: at(76), Informer: configMapsInformer, Type: freshness.CureProven, Cure: freshness.Resume})
	w.observe(freshness.Event{Time: at(76), Informer: configMapsInformer, Type: freshness.Proven, FreshAsOf: at(75)})
	w.observe(freshness.Event{Time: at(137), Informer: configMapsInformer, Type: freshness.Proven, FreshAsOf: at(135.5)})
	w.lifted(at(140.04))
	w.timeline.idle(at(1000))

	want := `
Before:
   +0.5s  guarded   widgets: proven to hold every change up to 400 ms ago
   +0.5s  guarded   widgets: Syncing -> Fresh: holds every change up to 0s ago

From the fault on, in seconds since then:
   +0.0s  fault     all goes quiet
   +0.0s  edit      ConfigMap settings becomes green
  +62.5s  guarded   configmaps: Fresh -> Stalled: the API server has resourceVersion 290 in its
                    cache, this informer is at 280: its stream is dead
  +62.5s  guarded   configmaps: a proof is overdue, cure "resume": watch again from where it was
  +66.0s  guarded   configmaps: the cure "resume" worked
 +127.0s  guarded   configmaps: proven to hold every change up to 1.5 s ago
 +130.0s  fault     is lifted
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
	wantNarrow(t, out.String())
}

func TestTimelineOnATerminal(t *testing.T) {
	var out bytes.Buffer
	tl := newTimeline(&out)
	tl.terminal, tl.color = true, true
	tl.begin(at(0), "Title")
	tl.idle(at(4.9))
	tl.idle(at(5))
	tl.idle(at(9.9))
	tl.entry(at(10), stock, "sees it")
	tl.idle(at(14))
	want := "\nTitle\n   +5.0s            ...\n  +10.0s  \x1b[33mstock   \x1b[0m  sees it\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}

func TestWitnessSightings(t *testing.T) {
	var out bytes.Buffer
	w := newWitness(newTimeline(&out))
	w.saw(stock, settings, "red") // there from the start: nobody edited it
	w.edited(settings, "blue")
	w.saw(stock, settings, "red") // what it was before
	if w.sees(stock) {
		t.Error("the color before the edit counts as the edit")
	}
	w.saw(stock, settings, "blue")
	w.saw(stock, settings, "blue") // reconciled again
	if !w.sees(stock) || w.sees(guarded) {
		t.Errorf("stock sees it: %t, guarded: %t, want only stock", w.sees(stock), w.sees(guarded))
	}
	w.edited(settings, "green")
	if w.sees(stock) {
		t.Error("an earlier edit counts as the latest")
	}
	w.saw(guarded, settings, "green")
	if !w.sees(guarded) {
		t.Error("guarded does not see the edit")
	}
	if got := strings.Count(out.String(), " sees "); got != 2 {
		t.Errorf("%d sightings on the timeline, want 2:\n%s", got, out.String())
	}
}

func TestWitnessTellsOfAFailingProbeOnce(t *testing.T) {
	var out bytes.Buffer
	w := newWitness(newTimeline(&out))
	first := errors.New("stalled")
	for _, err := range []error{nil, first, nil, errors.New("stalled for longer")} {
		w.alive(err)
	}
	if got := w.now().liveness; !errors.Is(got, first) || strings.Count(out.String(), "liveness fails: stalled\n") != 1 {
		t.Errorf("liveness %v and\n%swant the first failure, once", got, out.String())
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 5 * time.Millisecond: "5 ms", time.Second - 1: "999 ms", time.Second: "1.0 s", 90 * time.Second: "90.0 s",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %q, want %q", d, got, want)
		}
	}
}
