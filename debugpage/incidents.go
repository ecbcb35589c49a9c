// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"fmt"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

// incidentsMost are shown of those that are over.
const incidentsMost = 40

// incident is one as it is shown.
type incident struct {
	ID        string
	Face      face
	Who       string
	Open      bool
	Layer     string
	Way       []step
	When      []part
	Diagnosis string
	Said      bool // by the headline
	Rows      rows
	Cures     []cure
}

// incidents are those that go on, and those that are over, each with the newest first.
type incidents struct {
	Open, Over []incident
	More       int // not shown
}

// cure is one that was tried.
type cure struct {
	Face   face
	Name   string
	When   moment
	Result string
}

// step is a place on the way from this process to the API server.
type step struct {
	Name string
	Here bool // the fault lies there
}

func incidentsOf(s flightrecorder.Snapshot) incidents {
	var out incidents
	for _, i := range s.Incidents {
		switch {
		case i.Open():
			out.Open = append(out.Open, incidentOf(s.Time, i, s.Headline))
		case len(out.Over) == incidentsMost:
			out.More++
		default:
			out.Over = append(out.Over, incidentOf(s.Time, i, s.Headline))
		}
	}
	return out
}

func incidentOf(now time.Time, i flightrecorder.Incident, headline string) incident {
	out := incident{
		ID: fmt.Sprintf("incident-%d", i.ID), Face: faceOfIncident(i), Who: shown(i.Informer.String(), nameLimit), Open: i.Open(), Said: i.Open() && i.Diagnosis == headline,
		Layer: layerOf(i.Layer), Way: wayTo(i.Layer), Diagnosis: shown(i.Diagnosis, sentenceLimit),
	}
	if i.Informer == (freshness.Informer{}) {
		out.Who = "Connection"
	}
	if i.Diagnosis == "" { // nothing is certain yet
		out.Diagnosis = "It is not known yet what this is: a cure is being tried."
	}
	if i.Open() {
		out.When = []part{text("Going on since "), when(at(i.Began)), text(", for " + long(now.Sub(i.Began).Truncate(time.Second)))}
	} else {
		out.When = []part{text("Ended "), when(since(now, i.Ended)), text(", lasted " + long(i.Ended.Sub(i.Began))), text(", began "), when(at(i.Began))}
	}
	out.Rows = evidenceOf(now, i)
	for _, c := range i.Evidence.Cures {
		out.Cures = append(out.Cures, cureOf(i, c))
	}
	return out
}

func cureOf(i flightrecorder.Incident, c flightrecorder.Cure) cure {
	out := cure{Name: c.Cure.String(), When: momentOf(c.At, at(c.At).Text+", "+long(c.At.Sub(i.Began))+" after it began")}
	switch {
	case c.Worked:
		out.Face, out.Result = face{good, "fresh", "worked"}, "after "+long(c.Done.Sub(c.At))
	case c.Failed:
		out.Face, out.Result = face{bad, "failed", "did not help"}, "known after "+long(c.Done.Sub(c.At))
	case i.Open():
		out.Face, out.Result = face{wait, "syncing", "under way"}, "nothing is known yet"
	default:
		out.Face, out.Result = face{wait, "syncing", "not judged"}, "it was over before"
	}
	return out
}

// layerOf says where a fault lies.
func layerOf(l flightrecorder.Layer) string {
	switch l {
	case flightrecorder.LayerProcess:
		return "in this process"
	case flightrecorder.LayerCredential:
		return "the credential of this process"
	case flightrecorder.LayerPermission:
		return "what this process is allowed, or can understand"
	case flightrecorder.LayerStream:
		return "one stream, on a connection that lives"
	case flightrecorder.LayerConnection:
		return "a connection, and all streams on it"
	case flightrecorder.LayerPath:
		return "on the way to the API server"
	case flightrecorder.LayerServer:
		return "the API server, or its datastore"
	case flightrecorder.LayerContents:
		return "what a stream has brought: events were lost"
	default:
		return "not known"
	}
}

// wayTo is the way from this process to the API server, with the place of the fault. It is
// nil for a fault that lies at no place of it.
func wayTo(l flightrecorder.Layer) []step {
	way := []step{{Name: "this process"}, {Name: "stream"}, {Name: "connection"}, {Name: "path"}, {Name: "API server"}}
	at := map[flightrecorder.Layer]int{
		flightrecorder.LayerProcess: 0, flightrecorder.LayerStream: 1, flightrecorder.LayerContents: 1,
		flightrecorder.LayerConnection: 2, flightrecorder.LayerPath: 3, flightrecorder.LayerServer: 4,
	}
	i, ok := at[l]
	if !ok {
		return nil
	}
	way[i].Here = true
	return way
}
