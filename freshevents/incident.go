// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

// noteOf says what of an incident is to be written, if anything is. That of a connection
// is not: its watches go on over another. Nor is an API server that cannot be read: it
// could not be told, and that says nothing about a cache.
//
// What package flightrecorder says of an informer that is Blind quotes the API server,
// which may quote an object: here it is said in other words.
func noteOf(i flightrecorder.Incident, now time.Time) (note, bool) {
	who := i.Informer.String()
	n := newNote(InformerHealed, now, who, i.Diagnosis)
	n.of = i.Evidence.Informers.Of
	blind := i.Verdict == freshness.Blind && i.Layer == flightrecorder.LayerPermission
	reason, told := reasonOf(i, blind)
	switch {
	case i.Informer == freshness.Informer{}:
		return note{}, false
	case i.Open() && blind:
		n.text = fmt.Sprintf("%s cannot be watched (%s), so that nobody can tell whether its cache is fresh: the log says what is missing.", who, i.Evidence.Cause)
	case blind:
		n.text = fmt.Sprintf("%s can be watched again, after %s.", who, duration.HumanDuration(i.Ended.Sub(i.Began)))
	case !i.Open() && !told && i.Verdict == freshness.Suspect:
		told = slices.ContainsFunc(i.Evidence.Cures, func(c flightrecorder.Cure) bool { return c.Worked })
	}
	if i.Open() {
		n.reason = reason
	}
	return n, told
}

// overNote says that an incident is over which was told as something else than it became,
// and whose diagnosis quotes the API server.
func overNote(i flightrecorder.Incident, now time.Time) note {
	n := newNote(InformerHealed, now, i.Informer.String(), fmt.Sprintf("%s is fresh again, after %s.", i.Informer, duration.HumanDuration(i.Ended.Sub(i.Began))))
	n.of = i.Evidence.Informers.Of
	return n
}

// reasonOf returns the reason for an incident, if its beginning is told.
func reasonOf(i flightrecorder.Incident, blind bool) (Reason, bool) {
	switch {
	case i.Evidence.Behind == freshness.LevelHandlers:
		return HandlerBlocked, true
	case i.Verdict == freshness.Stalled:
		return InformerStalled, true
	case i.Verdict == freshness.ControlPlaneStalled:
		return ControlPlaneStalled, true
	case i.Verdict == freshness.Diverged:
		return InformerDiverged, true
	}
	return InformerBlind, blind
}
