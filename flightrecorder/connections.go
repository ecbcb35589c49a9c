// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/freshwatch/freshwatch/transport"
)

// lostConnection is one that was closed since it was dead.
type lostConnection struct {
	local, remote string
	at            time.Time
	by            transport.EndReason
}

// lostFor is how long such a connection is remembered, for incidents of informers whose
// watches were on it.
const lostFor = 10 * time.Minute

// ObserveTransport is a transport.Options.Observer.
func (r *Recorder) ObserveTransport(e transport.Event) {
	r.mu.Lock()
	defer r.unlock()
	r.transport = true
	switch e.Type {
	case transport.StreamEnded:
		r.streamEnded(e)
	case transport.ConnectionOpened:
		r.connections.add(e.Time, "opened "+ends(e.Connection.Local, e.Connection.Remote))
	case transport.ConnectionClosed:
		r.connectionClosed(e)
	case transport.DialFailed:
		r.dials++
		r.connections.add(e.Time, "no connection to "+e.Connection.Remote)
	case transport.Refused:
		r.refused++
		r.connections.add(e.Time, "401 Unauthorized"+over(Watch{Local: e.Connection.Local, Remote: e.Connection.Remote}))
	}
}

// streamEnded notes the end of a watch, and of a list that has failed.
func (r *Recorder) streamEnded(e transport.Event) {
	if e.Stream.GVR.Resource == "" || e.Verb == "list" && (e.Reason == transport.EndedServer || e.Reason == transport.EndedClient) {
		return
	}
	if r.informers[of(e.Stream)] == nil && e.Verb == "list" {
		return // a client's, as far as anybody knows
	}
	rec := r.of(of(e.Stream), e.Time)
	w := watchOn(e.Stream)
	w.Open, w.Ended, w.EndedBy = false, e.Time, e.Reason.String()
	if e.Verb == "watch" && e.Status == http.StatusOK {
		rec.ended = w
	}
	said := "brought nothing"
	if !w.LastByte.IsZero() {
		said = fmt.Sprintf("%d bytes, the last %v before", w.Bytes, e.Time.Sub(w.LastByte).Round(100*time.Millisecond))
	}
	status := ""
	if e.Status != 0 && e.Status != http.StatusOK {
		status = fmt.Sprintf(", status %d", e.Status)
	}
	rec.log.add(e.Time, fmt.Sprintf("%s%s ended after %v by %s%s; %s", e.Verb, over(w), e.Time.Sub(w.Since).Round(100*time.Millisecond), w.EndedBy, status, said))
}

// connectionClosed notes the end of a connection. One that was dead is an incident, which
// is over with it: its watches go on over another.
func (r *Recorder) connectionClosed(e transport.Event) {
	c := e.Connection
	r.connections.add(e.Time, fmt.Sprintf("closed %s: %v, it had carried %d requests", ends(c.Local, c.Remote), e.Reason, c.Requests))
	if e.Reason != transport.EndedPing && e.Reason != transport.EndedHeaders {
		return
	}
	r.lost = slices.DeleteFunc(r.lost, func(l lostConnection) bool { return e.Time.Sub(l.at) > lostFor })
	if len(r.lost) < connectionEntries {
		r.lost = append(r.lost, lostConnection{local: c.Local, remote: c.Remote, at: e.Time, by: e.Reason})
	}
	r.ids++
	i := &Incident{ID: r.ids, Began: e.Time, worth: true, Evidence: Evidence{
		Watch:    Watch{Local: c.Local, Remote: c.Remote, Protocol: c.Protocol, LastByte: c.LastByte, Since: c.Opened, Reused: c.Requests > 1, EndedBy: e.Reason.String(), Ended: e.Time},
		PingLost: e.Reason == transport.EndedPing, Deaf: e.Reason == transport.EndedHeaders, Carried: c.Watches, Informers: r.failing,
	}}
	if !c.LastByte.IsZero() {
		i.Began = c.LastByte
	}
	r.close(i, e.Time)
	for _, rec := range r.informers {
		if rec.incident != nil && c.Local != "" && rec.incident.Evidence.Watch.Local == c.Local {
			r.connect(rec)
		}
	}
}

// connect adds to the evidence of an incident what has become of its connection.
func (r *Recorder) connect(rec *record) {
	ev := &rec.incident.Evidence
	for _, l := range r.lost {
		if l.local != "" && l.local == ev.Watch.Local && l.remote == ev.Watch.Remote {
			ev.PingLost = ev.PingLost || l.by == transport.EndedPing
			ev.Deaf = ev.Deaf || l.by == transport.EndedHeaders
		}
	}
	ev.DialsFailed, ev.Refused = max(ev.DialsFailed, r.dials-rec.dials), max(ev.Refused, r.refused-rec.calls)
}

func ends(local, remote string) string {
	switch {
	case local == "" && remote == "":
		return "a connection"
	case local == "":
		return "to " + remote
	}
	return local + " to " + remote
}

// over says on which connection a watch is.
func over(w Watch) string {
	if w.Local == "" && w.Remote == "" {
		return ""
	}
	return " over " + ends(w.Local, w.Remote)
}
