// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

// view is a snapshot as the template shows it: texts, and no decisions.
type view struct {
	Title       string
	Face        face
	Headline    string
	More        []part // what goes with the headline, and changes as time passes
	Now         moment
	Recording   moment
	Tiles       []tile
	Incidents   incidents
	Informers   informers
	Canary      *canary
	Connections connections
	Reconciles  reconciles
	Links       []Link
	Refresh     time.Duration // zero: never by itself
	Style       any
	Script      any
}

// viewOf is what is shown of a snapshot.
func viewOf(s flightrecorder.Snapshot) view {
	v := view{
		Face: faceOfAll(s), Headline: shown(s.Headline, sentenceLimit), More: more(s),
		Now: at(s.Time), Recording: momentOf(s.Began, long(s.Time.Sub(s.Began).Truncate(time.Second))),
		Incidents: incidentsOf(s), Informers: informersOf(s), Canary: canaryOf(s), Connections: connectionsOf(s), Reconciles: reconcilesOf(s),
	}
	v.Tiles = []tile{v.incidents(), v.informers(s), v.canary(s), v.reconciles(), v.connections(s)}
	return v
}

// worst returns the incident that goes on and is the diagnosis; nil: none is.
func worst(s flightrecorder.Snapshot) *flightrecorder.Incident {
	for k := range s.Incidents {
		if i := &s.Incidents[k]; i.Open() && i.Diagnosis == s.Headline {
			return i
		}
	}
	return nil
}

// faceOfAll is that of what the headline is about.
func faceOfAll(s flightrecorder.Snapshot) face {
	if s.Healthy {
		return faceOfHealthy(s)
	}
	if i := worst(s); i != nil {
		return faceOfIncident(*i)
	}
	for _, r := range s.Reconciles {
		if r.Wedged() {
			return face{bad, "stalled", "Reconcile wedged"}
		}
	}
	if s.Canary != nil {
		f := faceOfCanary(s.Canary.State)
		f.Word = "Canary " + f.Word
		return f
	}
	return face{bad, "stalled", "Something is wrong"}
}

func faceOfHealthy(s flightrecorder.Snapshot) face {
	f := face{good, "fresh", "All fresh"}
	if len(s.Informers) == 0 {
		return face{wait, "syncing", "Nothing to see yet"}
	}
	for _, i := range s.Informers {
		if in := faceOfInformer(i.Verdict, i.Behind); in.Mood.order() < f.Mood.order() {
			f = in
		}
	}
	return f
}

// more is what goes with the headline: since when it is so, what was last, and what a
// canary or a reconcile that does not return has to say.
func more(s flightrecorder.Snapshot) []part {
	if i := worst(s); i != nil {
		return []part{text("Since "), when(at(i.Began)), text(", for " + long(s.Time.Sub(i.Began).Truncate(time.Second)) + ". The fault: " + layerOf(i.Layer) + ".")}
	}
	if !s.Healthy {
		return []part{text(s.Diagnosis)}
	}
	if len(s.Informers) == 0 {
		return nil
	}
	for _, i := range s.Incidents {
		if !i.Open() {
			return []part{text("The last incident ended "), when(since(s.Time, i.Ended)), text(": " + shown(i.Diagnosis, sentenceLimit))}
		}
	}
	return []part{text("There has been no incident since the recorder began, "), when(since(s.Time, s.Began)), text(".")}
}
