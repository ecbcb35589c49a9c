// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"fmt"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// tile is a section in a few words, which leads to it.
type tile struct {
	To, Name, Value, Note string
	Face                  face
}

func (v *view) incidents() tile {
	t := tile{To: "incidents", Name: "Incidents", Face: face{Mood: good, Icon: "fresh"}, Value: "none", Note: "going on"}
	open, over := len(v.Incidents.Open), len(v.Incidents.Over)+v.Incidents.More
	if open > 0 {
		t.Value, t.Note, t.Face = number(open), "going on", face{Mood: warn, Icon: "suspect"}
		for _, i := range v.Incidents.Open {
			if i.Face.Mood.order() < t.Face.Mood.order() {
				t.Face = i.Face
			}
		}
	}
	if over > 0 {
		t.Note += ", " + number(over) + " over"
	}
	return t
}

func (v *view) informers(s flightrecorder.Snapshot) tile {
	t := tile{To: "informers", Name: "Informers", Face: face{Mood: good, Icon: "fresh"}}
	fresh := 0
	for _, i := range s.Informers {
		f := faceOfInformer(i.Verdict, i.Behind)
		if f.Mood == good {
			fresh++
		} else if f.Mood.order() < t.Face.Mood.order() {
			t.Face = f
		}
	}
	t.Value, t.Note = fmt.Sprintf("%s of %s", number(fresh), number(len(s.Informers))), "fresh"
	if len(s.Informers) == 0 {
		t.Value, t.Note, t.Face = "none", "known", face{Mood: wait, Icon: "syncing"}
	}
	return t
}

func (v *view) canary(s flightrecorder.Snapshot) tile {
	t := tile{To: "canary", Name: "Canary", Value: "none", Note: "is attached", Face: face{Mood: wait, Icon: "syncing"}}
	if s.Canary == nil {
		return t
	}
	t.Face, t.Value, t.Note = v.Canary.Face, v.Canary.Face.Word, "no round trip yet"
	if s.Canary.State == watchcanary.Standby.String() {
		t.Note = "another replica leads"
	}
	if n := len(s.Canary.Trips); n > 0 {
		t.Note = "last round trip " + long(seconds(s.Canary.Trips[n-1].Seconds))
	}
	return t
}

func (v *view) reconciles() tile {
	t := tile{To: "reconciles", Name: "Reconciles", Value: number(v.Reconciles.All), Note: "in flight", Face: face{Mood: good, Icon: "running"}}
	switch {
	case v.Reconciles.All == 0:
		t.Value, t.Face = "none", face{Mood: wait, Icon: "syncing"}
	case v.Reconciles.Wedged > 0:
		t.Note, t.Face = "in flight, "+number(v.Reconciles.Wedged)+" wedged", face{Mood: bad, Icon: "stalled"}
	}
	return t
}

func (v *view) connections(s flightrecorder.Snapshot) tile {
	t := tile{To: "connections", Name: "Connections", Value: number(v.Connections.All), Note: "open", Face: face{Mood: good, Icon: "link"}}
	if v.Connections.All == 0 {
		t.Value, t.Face = "none", face{Mood: wait, Icon: "syncing"}
		return t
	}
	watches := 0
	for _, c := range s.Connections {
		watches += c.Watches
	}
	t.Note = "open, " + many(watches, "watch", "watches")
	return t
}
