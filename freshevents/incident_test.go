// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

var (
	noon       = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	configMaps = freshness.Informer{Version: "v1", Resource: "configmaps"}
)

// secret is what an API server may quote, and an Event must not.
const secret = "hunter2"

func TestNoteOf(t *testing.T) {
	over := noon.Add(3 * time.Minute)
	worked := []flightrecorder.Cure{{Cure: freshness.Resume, At: noon, Worked: true, Done: over}}
	tried := []flightrecorder.Cure{{Cure: freshness.Resume, At: noon, Failed: true, Done: over}}
	handlers := flightrecorder.Evidence{Behind: freshness.LevelHandlers}
	rights := flightrecorder.Evidence{Cause: "forbidden", Reason: secret}
	for _, tt := range []struct {
		name string
		in   flightrecorder.Incident
		want string // the Event's type, reason and message
	}{
		{"stalled", flightrecorder.Incident{Verdict: freshness.Stalled}, "Warning InformerStalled diagnosis"},
		{"healed", flightrecorder.Incident{Verdict: freshness.Stalled, Ended: over}, "Normal InformerHealed diagnosis"},
		{"the API server's cache", flightrecorder.Incident{Verdict: freshness.ControlPlaneStalled}, "Warning ControlPlaneStalled diagnosis"},
		{"and its thaw", flightrecorder.Incident{Verdict: freshness.ControlPlaneStalled, Ended: over}, "Normal InformerHealed diagnosis"},
		{"lost events", flightrecorder.Incident{Verdict: freshness.Diverged}, "Warning InformerDiverged diagnosis"},
		{"brought back", flightrecorder.Incident{Verdict: freshness.Diverged, Ended: over}, "Normal InformerHealed diagnosis"},
		{"a handler, the cache being fresh", flightrecorder.Incident{Verdict: freshness.Fresh, Evidence: handlers}, "Warning HandlerBlocked diagnosis"},
		{"a handler, and a stall besides", flightrecorder.Incident{Verdict: freshness.Stalled, Evidence: handlers}, "Warning HandlerBlocked diagnosis"},
		{"a handler that returns", flightrecorder.Incident{Verdict: freshness.Fresh, Evidence: handlers, Ended: over}, "Normal InformerHealed diagnosis"},
		{
			"a right, without the words of the API server", flightrecorder.Incident{Verdict: freshness.Blind, Layer: flightrecorder.LayerPermission, Evidence: rights},
			"Warning InformerBlind configmaps/v1 cannot be watched (forbidden), so that nobody can tell whether its cache is fresh: the log says what is missing.",
		},
		{
			"and when it is given", flightrecorder.Incident{Verdict: freshness.Blind, Layer: flightrecorder.LayerPermission, Evidence: rights, Ended: over},
			"Normal InformerHealed configmaps/v1 can be watched again, after 3m.",
		},
		{"nobody can tell", flightrecorder.Incident{Verdict: freshness.Blind, Diagnosis: secret}, ""},
		{"nor could anybody before", flightrecorder.Incident{Verdict: freshness.Blind, Diagnosis: secret, Ended: over}, ""},
		{"nobody to tell", flightrecorder.Incident{Verdict: freshness.Unreachable, Diagnosis: secret}, ""},
		{"nobody was told", flightrecorder.Incident{Verdict: freshness.Unreachable, Diagnosis: secret, Evidence: flightrecorder.Evidence{Cures: worked}, Ended: over}, ""},
		{"a cure before a verdict", flightrecorder.Incident{Verdict: freshness.Suspect, Evidence: flightrecorder.Evidence{Cures: worked}, Ended: over}, "Normal InformerHealed diagnosis"},
		{"a cure that showed nothing", flightrecorder.Incident{Verdict: freshness.Suspect, Evidence: flightrecorder.Evidence{Cures: tried}, Ended: over}, ""},
		{"a suspicion", flightrecorder.Incident{Verdict: freshness.Suspect, Evidence: flightrecorder.Evidence{Cures: tried}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Informer, tt.in.Began, tt.in.Evidence.Informers = configMaps, noon, flightrecorder.Share{Some: 1, Of: 14}
			if tt.in.Diagnosis == "" && tt.in.Layer != flightrecorder.LayerPermission {
				tt.in.Diagnosis = "diagnosis"
			}
			n, told := noteOf(tt.in, over)
			got := ""
			if told {
				got = n.reason.kind() + " " + n.reason.String() + " " + n.message()
				if !n.first.Equal(over) || !n.last.Equal(over) || n.count != 1 || n.of != 14 {
					t.Errorf("%+v", n)
				}
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if strings.Contains(got, secret) {
				t.Error("it quotes the API server")
			}
		})
	}
	if n, told := noteOf(flightrecorder.Incident{Verdict: freshness.Stalled, Began: noon, Ended: over, Diagnosis: "a connection"}, over); told {
		t.Errorf("that of a connection is told: %+v", n)
	}
}

// Whatever package flightrecorder says of an informer, no Event quotes the API server.
func TestNoteOfRecorder(t *testing.T) {
	var notes []string
	r, err := flightrecorder.New(flightrecorder.Options{OnIncident: func(i flightrecorder.Incident) {
		if n, told := noteOf(i, noon); told {
			notes = append(notes, n.reason.String()+": "+n.message())
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for v := freshness.Suspect; v <= freshness.Blind; v++ {
		for _, cause := range []string{"", "unreachable", "busy", "unauthorized", "forbidden", "not-served", "conversion", "undecodable", "versions", "expired"} {
			for _, e := range []freshness.Event{
				{Type: freshness.ReadFailed, Cause: cause},
				{Type: freshness.VerdictChanged, Verdict: v, Previous: freshness.Fresh, Cause: cause},
				{Type: freshness.CureStarted, Cure: freshness.Resume, Verdict: v},
				{Type: freshness.CureProven, Cure: freshness.Resume},
				{Type: freshness.VerdictChanged, Verdict: freshness.Fresh, Previous: v},
			} {
				e.Informer, e.Time, e.Reason, e.Diverged = configMaps, noon, secret, []string{secret}
				r.ObserveInformers(e)
			}
		}
	}
	for _, n := range notes {
		if strings.Contains(n, secret) {
			t.Errorf("it quotes the API server: %s", n)
		}
	}
	for r := range Reason(len(reasonNames)) {
		told := slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, r.String()+":") })
		if want := r == InformerStalled || r == ControlPlaneStalled || r == InformerDiverged || r == InformerBlind || r == InformerHealed; told != want {
			t.Errorf("%v is told: %v, want %v", r, told, want)
		}
	}
}

func TestReasons(t *testing.T) {
	normal := 0
	for r := range Reason(len(reasonNames)) {
		if name := r.String(); name == "" || strings.ContainsAny(name, " ()") {
			t.Errorf("%d is called %q", r, name)
		}
		if r.kind() == corev1.EventTypeNormal {
			normal++
		}
	}
	if normal != 2 || Reason(-1).String() != "Reason(-1)" || Reason(99).String() != "Reason(99)" {
		t.Errorf("%d are Normal; %v, %v", normal, Reason(-1), Reason(99))
	}
}
