// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"fmt"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

// evidenceOf is what a diagnosis rests on, in the order in which a person asks: when did
// it fall silent, over what, what did others see there, and what does the API server say.
func evidenceOf(now time.Time, i flightrecorder.Incident) rows {
	ev := i.Evidence
	var r rows
	r.reason(ev.Reason)
	if w := ev.Watch; w != (flightrecorder.Watch{}) {
		r.lastByte(i)
		r.suspected(i)
		r.connection(w)
		if !ev.PingLost && !ev.Deaf || i.Informer != (freshness.Informer{}) {
			r.neighbours("Others on its connection", ev.SameConnection, "no other watch was open on it")
			r.neighbours("On other connections", ev.OtherConnections, "no watch was open on another")
		}
	}
	switch {
	case ev.PingLost:
		r.add("Its end", text("it did not answer a PING, and was given up"+carried(ev.Carried)))
	case ev.Deaf:
		r.add("Its end", text("it answered PINGs and nothing else, and was given up"+carried(ev.Carried)))
	}
	if ev.Store != "" {
		parts := []part{text("at "), code(ev.Store)}
		if !ev.Moved.IsZero() {
			parts = append(parts, text(", moved "), when(before(i, ev.Moved)))
			if ev.By != "" {
				parts = append(parts, text(" by "+article(ev.By)))
			}
		}
		r.add("The cache stood", parts...)
	}
	r.read(now, ev)
	r.server(now, ev.Server)
	if ev.Behind != freshness.LevelNone {
		r.add("What lags", text(map[freshness.Level]string{
			freshness.LevelStream: "the stream", freshness.LevelStore: "the store", freshness.LevelHandlers: "a handler",
		}[ev.Behind]))
	}
	if ev.DialsFailed > 0 {
		r.add("New connections", text(many(ev.DialsFailed, "attempt has failed", "attempts have failed")))
	}
	if ev.Refused > 0 {
		r.add("401 Unauthorized", text(times(ev.Refused)))
	}
	if ev.Objects.Of > 0 {
		r.add("Objects that differ", text(share(ev.Objects)))
	}
	if ev.Informers.Of > 0 {
		r.add("Informers not fresh at once", text(share(ev.Informers)))
	}
	return r
}

// before returns t in relation to when an incident was noticed.
func before(i flightrecorder.Incident, t time.Time) moment {
	if t.IsZero() {
		return moment{Text: "at a time not known"}
	}
	m := at(t)
	switch d := i.Began.Sub(t); {
	case d >= time.Second:
		m.Text = long(d.Truncate(time.Second)) + " before it was noticed (" + m.Text + ")"
	case d <= -time.Second:
		m.Text = long((-d).Truncate(time.Second)) + " after it was noticed (" + m.Text + ")"
	default:
		m.Text = "as it was noticed (" + m.Text + ")"
	}
	return m
}

func (r *rows) lastByte(i flightrecorder.Incident) {
	w := i.Evidence.Watch
	switch {
	case !w.LastByte.IsZero() && w.LastByte.Equal(i.Began):
		r.add("Last byte", when(at(w.LastByte))) // of a connection: it began with that
	case !w.LastByte.IsZero():
		r.add("Last byte", when(before(i, w.LastByte)))
	case w.Protocol != "":
		r.add("Last byte", text("it has brought none"))
	default:
		r.add("Last byte", text("not known without package transport"))
	}
}

// suspected adds the watch that is to blame, or the life of a connection.
func (r *rows) suspected(i flightrecorder.Incident) {
	w, term := i.Evidence.Watch, "The watch"
	if i.Informer == (freshness.Informer{}) {
		term = "The connection"
	}
	if w.Since.IsZero() {
		return
	}
	end := i.Began
	if !w.Ended.IsZero() {
		end = w.Ended
	}
	said := "was " + long(end.Sub(w.Since).Truncate(time.Second)) + " old"
	if w.TimeoutSeconds > 0 {
		said += " of " + long(seconds(w.TimeoutSeconds))
	}
	if w.Answered.IsZero() && term == "The watch" {
		said += ", and not answered"
	}
	switch {
	case term != "The watch":
		said += " at its end"
	case w.Ended.IsZero():
		said += ", and open"
	default:
		said += " when it ended" + endedBy(w.EndedBy)
	}
	r.add(term, text(said))
}

func (r *rows) neighbours(term string, n flightrecorder.Neighbours, none string) {
	if n.Watches == 0 {
		r.add(term, text(none))
		return
	}
	silent := n.Watches - n.Alive
	switch {
	case silent == 0:
		r.add(term, text(fmt.Sprintf("%s, all alive", many(n.Watches, "watch", "watches"))))
	case n.Alive == 0:
		r.add(term, text(fmt.Sprintf("%s, all silent", many(n.Watches, "watch", "watches"))))
	default:
		r.add(term, text(fmt.Sprintf("%s: %d alive, %d silent", many(n.Watches, "watch", "watches"), n.Alive, silent)))
	}
}

func (r *rows) read(now time.Time, ev flightrecorder.Evidence) {
	if ev.Read != "" {
		r.add("The API server said", text("everything is at "), code(ev.Read), text(", "), when(since(now, ev.ReadAt)))
	}
	if ev.ReadsFailed > 0 {
		said := many(ev.ReadsFailed, "read has failed", "reads have failed")
		if ev.Cause != "" {
			said += ": " + ev.Cause
		}
		r.add("Reads", text(said))
	} else if ev.Cause != "" {
		r.add("Reads", text(ev.Cause))
	}
}

func (r *rows) server(now time.Time, a flightrecorder.ServerAnswer) {
	if a.Time.IsZero() {
		return
	}
	said := ""
	switch a.State {
	case freshness.ServerUnknown:
		said = "it does not say where it stands"
	case freshness.ServerReached:
		said = "has what is missing here"
	case freshness.ServerLate:
		said = "has not got what is missing here"
	case freshness.ServerFrozen:
		said = "stands still"
	}
	parts := []part{text(said)}
	if a.ResourceVersion != "" {
		parts = append(parts, text(", at "), code(a.ResourceVersion))
	}
	if a.SameConnection {
		parts = append(parts, text(", asked over the connection of the watch"))
	}
	r.add("Its watch cache", append(parts, text(", "), when(since(now, a.Time)))...)
}

func carried(n int) string {
	if n == 0 {
		return ""
	}
	return ", with " + many(n, "watch", "watches")
}

func article(by string) string {
	if by == "event" {
		return "an event"
	}
	return "a " + by
}

func share(s flightrecorder.Share) string { return number(s.Some) + " of " + number(s.Of) }
