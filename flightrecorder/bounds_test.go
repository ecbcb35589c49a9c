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
		ev   Evidence
		want Layer
	}{
		"unreachable after 401s":     {Evidence{Cause: "unreachable", Refused: 2, DialsFailed: 3}, LayerPath},
		"busy after a failed dial":   {Evidence{Cause: "busy", DialsFailed: 1}, LayerServer},
		"401s":                       {Evidence{Cause: "unauthorized", Refused: 2}, LayerCredential},
		"401s, and no word of cause": {Evidence{Refused: 2}, LayerCredential},
	} {
		if got, text := diagnose(Incident{Informer: configMaps, Verdict: freshness.Unreachable, Evidence: tt.ev}); got != tt.want {
			t.Errorf("%s: %v, want %v: %s", name, got, tt.want, text)
		}
	}
}
