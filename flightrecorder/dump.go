// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

const (
	// dumpLimit is what a log line may hold: package transport keeps as much.
	dumpLimit = 60 << 10
	// dumpInformers is how many informers are written with their logs.
	dumpInformers = 6
	dumpIncidents = 8
	// dumpMost bounds connections, and reconciles that are wedged.
	dumpMost = 20
)

// WriteTo writes what is known, for a log: what happened to connections, incidents, the
// informers that are worst, and at the end the diagnosis. At most 60 KiB. It is what
// transport.ExitOptions.FlightRecorder wants.
func (r *Recorder) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, r.Snapshot().text())
	return int64(n), err
}

// DumpWhenFailing wraps a healthz.Checker: when that begins to fail, what is known is
// logged, so that it can be read after the restart that follows (kubectl logs
// --previous). Once, and again after ten minutes at the earliest. The result is check's,
// and it takes no longer.
func (r *Recorder) DumpWhenFailing(check func(*http.Request) error) func(*http.Request) error {
	return func(req *http.Request) error {
		err := check(req)
		if err != nil {
			r.dumpOnce(err)
		}
		return err
	}
}

// dumpOnce logs, from a goroutine of its own: a log sink that blocks must not block a
// check.
func (r *Recorder) dumpOnce(why error) {
	now, last := r.opts.Clock.Now().UnixNano(), r.dumped.Load()
	if last != 0 && now >= last && now-last < int64(dumpAgain) || !r.dumped.CompareAndSwap(last, now) {
		return
	}
	s := r.Snapshot()
	go r.opts.Logger.Info("What the flight recorder holds", "because", why.Error(), "diagnosis", s.Diagnosis, "recorded", s.text())
}

// text writes a snapshot for a log.
func (s Snapshot) text() string {
	var head, tail bytes.Buffer
	for _, e := range s.Log {
		line(&head, "connection", e)
	}
	for _, i := range sorted(s.Informers) {
		writeInformer(&head, i, s.Time)
	}
	for k, i := range s.Incidents {
		if k == dumpIncidents {
			fmt.Fprintf(&tail, "and %s\n", count(len(s.Incidents)-k, "earlier incident"))
			break
		}
		fmt.Fprintf(&tail, "incident %d %s %s layer=%v: %s\n", i.ID, i.Began.UTC().Format(time.RFC3339), state(i), i.Layer, i.Diagnosis)
	}
	for k, c := range s.Connections {
		if k == dumpMost {
			fmt.Fprintf(&tail, "and %s\n", count(len(s.Connections)-k, "more open connection"))
			break
		}
		fmt.Fprintf(&tail, "open: %s, %s, since %s, %s, %d requests, last byte %s\n", ends(c.Local, c.Remote), c.Protocol, clockTime(c.Opened), count(c.Watches, "watch"), c.Requests, ago(s.Time, c.LastByte))
	}
	if c := s.Canary; c != nil {
		fmt.Fprintf(&tail, "canary: %s since %s: %s\n", c.State, clockTime(c.Since), c.Reason)
	}
	wedged := 0
	for _, rec := range s.Reconciles {
		if !rec.Wedged() {
			continue
		}
		if wedged++; wedged <= dumpMost {
			fmt.Fprintf(&tail, "reconcile: %s %s, %.0fs, %s\n", rec.Controller, rec.Request, rec.Age, rec.Stage)
		}
	}
	if more := wedged - dumpMost; more > 0 {
		fmt.Fprintf(&tail, "and %s\n", count(more, "more wedged reconcile"))
	}
	fmt.Fprintf(&tail, "diagnosis: %s", s.Diagnosis)
	text := head.String() + tail.String()
	if n := len(text) - dumpLimit; n > 0 {
		text = text[n:] // what matters most is at the end
		text = "...\n" + text[strings.IndexByte(text, '\n')+1:]
	}
	return text
}

// sorted returns the worst informers, the worst last, where a reader looks first.
func sorted(all []Informer) []Informer {
	var out []Informer
	for level := severity(freshness.ControlPlaneStalled); level >= 0 && len(out) < dumpInformers; level-- {
		for _, i := range all {
			if severity(i.Verdict) == level && len(out) < dumpInformers {
				out = append([]Informer{i}, out...)
			}
		}
	}
	return out
}

func writeInformer(w io.Writer, i Informer, now time.Time) {
	for _, e := range i.Log {
		line(w, i.Name, e)
	}
	fmt.Fprintf(w, "%s: %v for %s, bound %.1fs of %.0fs, at %s, moved %s, bookmark %s, read %s; watch%s, %s, since %s, last byte %s: %s\n",
		i.Name, i.Verdict, lasted(now, i.Since), i.Bound, i.Limit, i.RV, ago(now, i.Moved), ago(now, i.Bookmark), ago(now, i.LastRead),
		over(i.Watch), i.Watch.Protocol, clockTime(i.Watch.Since), ago(now, i.Watch.LastByte), i.Reason)
}

func line(w io.Writer, who string, e Entry) {
	often := ""
	if e.Count > 1 {
		often = fmt.Sprintf(" (%d times, until %s)", e.Count, clockTime(e.Until))
	}
	fmt.Fprintf(w, "%s %s: %s%s\n", e.Time.UTC().Format(time.RFC3339), who, e.What, often)
}

func state(i Incident) string {
	if i.Open() {
		return "goes on"
	}
	return "for " + took(i.Ended.Sub(i.Began))
}

func lasted(now, since time.Time) string {
	if since.IsZero() {
		return "an unknown time"
	}
	return took(now.Sub(since))
}

func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return took(now.Sub(t)) + " ago"
}
