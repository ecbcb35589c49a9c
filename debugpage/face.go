// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// mood is how something is, in a word that style sheet and script know. It never stands
// alone: an icon of another shape and a word go with it.
type mood string

const (
	good mood = "good"
	wait mood = "wait" // not known yet, or does not matter
	warn mood = "warn" // something is wrong, but not with what is served
	bad  mood = "bad"
)

// order has the worst first.
func (m mood) order() int {
	switch m {
	case bad:
		return 0
	case warn:
		return 1
	case wait:
		return 2
	default:
		return 3
	}
}

// face is how something is: a colour, a shape, and a word.
type face struct {
	Mood mood
	Icon string // the id of a symbol in icons.html
	Word string
}

// faceOf shows a verdict by its own name, which metrics, logs and documents use too.
func faceOf(v freshness.Verdict) face {
	f := face{Mood: warn, Icon: "suspect", Word: v.String()}
	switch v {
	case freshness.Fresh:
		f.Mood, f.Icon = good, "fresh"
	case freshness.Syncing:
		f.Mood, f.Icon = wait, "syncing"
	case freshness.Suspect:
	case freshness.Stalled:
		f.Mood, f.Icon = bad, "stalled"
	case freshness.ControlPlaneStalled:
		f.Mood, f.Icon = bad, "server"
	case freshness.Diverged:
		f.Mood, f.Icon = bad, "diverged"
	case freshness.Unreachable:
		f.Icon = "unreachable"
	case freshness.Blind:
		f.Icon = "blind"
	}
	return f
}

// faceOfInformer knows that a handler may block while the cache is fresh.
func faceOfInformer(v freshness.Verdict, behind freshness.Level) face {
	if behind == freshness.LevelHandlers && faceOf(v).Mood != bad {
		return face{bad, "blocked", "Handler blocked"}
	}
	return faceOf(v)
}

// faceOfIncident is that of the worst that it was.
func faceOfIncident(i flightrecorder.Incident) face {
	if i.Informer == (freshness.Informer{}) {
		return face{warn, "unreachable", "Connection lost"}
	}
	return faceOfInformer(i.Verdict, i.Evidence.Behind)
}

func faceOfCanary(state string) face {
	f := face{Mood: warn, Icon: "suspect", Word: shown(state, nameLimit)}
	switch state {
	case watchcanary.Fresh.String():
		f.Mood, f.Icon = good, "fresh"
	case watchcanary.Standby.String(), watchcanary.Pending.String():
		f.Mood, f.Icon = wait, "syncing"
	case watchcanary.Stalled.String():
		f.Mood, f.Icon = bad, "stalled"
	case watchcanary.ControlPlaneStalled.String():
		f.Mood, f.Icon = bad, "server"
	case watchcanary.Blind.String():
		f.Icon = "blind"
	}
	return f
}

func faceOfReconcile(r flightrecorder.Reconcile) face {
	f := face{Mood: good, Icon: "running", Word: shown(r.Stage, nameLimit)}
	switch {
	case r.Wedged():
		f.Mood, f.Icon = bad, "stalled"
	case r.Stage == "Overrun":
		f.Mood, f.Icon = warn, "suspect"
	}
	return f
}
