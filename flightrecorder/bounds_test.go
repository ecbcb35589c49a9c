// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

// What stands at the end of a dump may be long as well: hundreds of connections, wedged
// reconciles, a canary's reason.
func TestDumpIsBoundedAtItsEnd(t *testing.T) {
	many := Snapshot{Diagnosis: "all of it"}
	for i := range 700 {
		many.Connections = append(many.Connections, Connection{Local: fmt.Sprintf("10.0.0.1:%d", i), Remote: "10.96.0.1:443"})
		many.Reconciles = append(many.Reconciles, Reconcile{Controller: "pods", Request: strings.Repeat("x", 200), Stage: "Wedged"})
	}
	long := Snapshot{Diagnosis: "all of it", Canary: &Canary{State: "Blind", Reason: strings.Repeat("y", 2*dumpLimit)}}
	for name, s := range map[string]Snapshot{"many": many, "long": long, "nothing but a diagnosis": {Diagnosis: strings.Repeat("z", 2*dumpLimit) + " all of it"}} {
		text := s.text()
		if len(text) > dumpLimit+10 || !strings.HasSuffix(text, "all of it") {
			t.Errorf("%s: %d bytes, which end with %q", name, len(text), text[max(0, len(text)-50):])
		}
	}
	if text := many.text(); !strings.Contains(text, "and 680 more open connections\n") || !strings.Contains(text, "and 680 more wedged reconciles\n") {
		t.Errorf("what is left out is not counted: %q", text)
	}
}

func TestCuresAreBounded(t *testing.T) {
	var ev Evidence
	for i := range 1000 {
		ev.try(Cure{At: at(i)})
	}
	if len(ev.Cures) != curesKept || ev.CuresLeftOut != 1000-curesKept || !ev.Cures[15].At.Equal(at(15)) || !ev.Cures[16].At.Equal(at(984)) {
		t.Errorf("%d, and %d left out: %+v", len(ev.Cures), ev.CuresLeftOut, ev.Cures)
	}
}

// Lists of other clients are of no informer, and push none out.
func TestListsMakeNoInformers(t *testing.T) {
	r := newRecorder(t, Options{Informers: 3})
	stalledOnly := freshness.Event{Time: at(60), Informer: configMaps, Type: freshness.VerdictChanged, Verdict: freshness.Stalled, Previous: freshness.Fresh}
	r.ObserveInformers(stalledOnly)
	for i := range 100 {
		r.ObserveTransport(transport.Event{Time: at(61), Type: transport.StreamEnded, Verb: "list", Reason: transport.EndedHeaders, Stream: transport.Stream{
			GVR: schema.GroupVersionResource{Version: "v1", Resource: fmt.Sprintf("others%d", i)},
		}})
	}
	if s := r.Snapshot(); len(s.Informers) != 1 {
		t.Errorf("%d informers, want 1", len(s.Informers))
	}
	for i := range 100 {
		r.ObserveInformers(freshness.Event{Time: at(62), Informer: freshness.Informer{Resource: fmt.Sprintf("kind%d", i)}, Type: freshness.Proven})
	}
	if s := r.Snapshot(); len(s.Informers) != 3 || s.Healthy || len(s.Incidents) != 1 {
		t.Errorf("the one that is stalled is forgotten: %+v", s)
	}
}

// Old failures of other kinds are not what keeps an informer from its API server now.
func TestOldFailuresAreNotTheCause(t *testing.T) {
	for name, tt := range map[string]struct {
		verdict freshness.Verdict
		ev      Evidence
		want    Layer
	}{
		"unreachable after 401s":     {freshness.Unreachable, Evidence{Cause: "unreachable", Refused: 2, DialsFailed: 3}, LayerPath},
		"busy after a failed dial":   {freshness.Unreachable, Evidence{Cause: "busy", DialsFailed: 1}, LayerServer},
		"401s":                       {freshness.Unreachable, Evidence{Cause: "unauthorized", Refused: 2}, LayerCredential},
		"401s, and no word of cause": {freshness.Unreachable, Evidence{Refused: 2}, LayerCredential},
		"stalled after 401s":         {freshness.Stalled, Evidence{Cause: "unauthorized", Refused: 2}, LayerStream},
	} {
		if got, text := diagnose(Incident{Informer: configMaps, Verdict: tt.verdict, Evidence: tt.ev}); got != tt.want {
			t.Errorf("%s: %v, want %v: %s", name, got, tt.want, text)
		}
	}
}

// An incident says what is wrong now, not what was wrong before that.
func TestVerdictsFollowEachOther(t *testing.T) {
	const down, forbidden, frozen, dead = freshness.Unreachable, freshness.Blind, freshness.ControlPlaneStalled, freshness.Stalled
	for name, tt := range map[string]struct {
		verdicts []freshness.Verdict
		want     freshness.Verdict
		told     int
	}{
		"away, and then forbidden":            {[]freshness.Verdict{down, forbidden}, forbidden, 2},
		"forbidden, and then away":            {[]freshness.Verdict{forbidden, down}, down, 2},
		"frozen, and then its stream is dead": {[]freshness.Verdict{frozen, dead}, dead, 2},
		"stalled, and then away":              {[]freshness.Verdict{dead, down}, dead, 1},
		"stalled, and suspected again":        {[]freshness.Verdict{dead, freshness.Suspect}, dead, 1},
		"away, and suspected afterwards":      {[]freshness.Verdict{down, freshness.Suspect}, down, 1},
	} {
		told := 0
		r := newRecorder(t, Options{OnIncident: func(Incident) { told++ }})
		before := freshness.Suspect
		for i, v := range append([]freshness.Verdict{freshness.Suspect}, tt.verdicts...) {
			r.ObserveInformers(freshness.Event{Time: at(i), Informer: configMaps, Type: freshness.VerdictChanged, Verdict: v, Previous: before})
			before = v
		}
		if s := r.Snapshot(); len(s.Incidents) != 1 || s.Incidents[0].Verdict != tt.want || told != tt.told {
			t.Errorf("%s: told %d times, want %d: %+v", name, told, tt.told, s.Incidents)
		}
	}
}

// Why the API server cannot be read may change, and what was counted stays.
func TestCauseChanges(t *testing.T) {
	r := newRecorder(t, Options{})
	tell := func(seconds int, e freshness.Event) {
		e.Time, e.Informer = at(seconds), configMaps
		r.ObserveInformers(e)
	}
	dial := transport.Event{Type: transport.DialFailed, Connection: transport.Connection{Remote: "b:443"}}
	tell(1, freshness.Event{Type: freshness.ReadFailed, Cause: "busy", Reason: "429"})
	tell(2, freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Unreachable, Previous: freshness.Fresh, Cause: "busy", Reason: "429"})
	if got := r.Snapshot().Incidents[0]; got.Layer != LayerServer {
		t.Errorf("busy: %v: %s", got.Layer, got.Diagnosis)
	}
	for i := range 3 {
		dial.Time = at(3 + i)
		r.ObserveTransport(dial)
	}
	tell(6, freshness.Event{Type: freshness.ReadFailed, Cause: "unreachable", Reason: "refused"})
	if got := r.Snapshot().Incidents[0]; got.Layer != LayerPath || !strings.Contains(got.Diagnosis, "(3 attempts)") || got.Evidence.Reason != "refused" {
		t.Errorf("unreachable: %v: %s", got.Layer, got.Diagnosis)
	}
	tell(9, freshness.Event{Type: freshness.Read, ResourceVersion: "7"})
	tell(10, freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Suspect, Previous: freshness.Unreachable})
	tell(11, freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Fresh, Previous: freshness.Suspect})
	got := r.Incidents()[0]
	if got.Evidence.DialsFailed != 3 || got.Evidence.ReadsFailed != 2 || got.Evidence.Cause != "unreachable" || !strings.Contains(got.Diagnosis, "(3 attempts)") {
		t.Errorf("kept is %+v", got)
	}
}

// A cure that did not last has not healed it.
func TestTheLastCureHealed(t *testing.T) {
	_, got := diagnose(Incident{Informer: configMaps, Began: at(60), Ended: at(134), Verdict: freshness.Stalled, Evidence: Evidence{Cures: []Cure{
		{Cure: freshness.Resume, At: at(61), Failed: true, Done: at(66)},
		{Cure: freshness.List, At: at(66), Worked: true, Done: at(70)},
		{Cure: freshness.Relist, At: at(130), Worked: true, Done: at(134)},
	}}})
	if want := "; relist healed it, 74s after its last sign of life."; !strings.HasSuffix(got, want) {
		t.Errorf("%s\ndoes not end with %s", got, want)
	}
}

// Whoever reads the JSON finds lists, not null.
func TestNoIncidentsAreAList(t *testing.T) {
	if s := newRecorder(t, Options{}).Snapshot(); s.Incidents == nil || s.Informers == nil || s.Connections == nil || s.Reconciles == nil || s.Log == nil {
		t.Errorf("null is in %+v", s)
	}
}
