// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

// row is a term with what is known of it, in a list of such.
type row struct {
	Term  string
	Parts []part
}

// part is a piece of a description: a text, code, or a time.
type part struct {
	Text string
	Code bool
	Time *moment
}

func text(s string) part { return part{Text: shown(s, sentenceLimit)} }

func code(s string) part { return part{Text: shown(s, nameLimit), Code: true} }

func when(m moment) part { return part{Time: &m} }

// rows are built from top to bottom.
type rows []row

func (r *rows) add(term string, parts ...part) { *r = append(*r, row{term, parts}) }

// reason adds what package freshness says of an informer.
func (r *rows) reason(said string) {
	if said != "" {
		r.add("Reason", text(said))
	}
}

// connection adds what is known of a watch's connection.
func (r *rows) connection(w flightrecorder.Watch) {
	if w.Local == "" && w.Remote == "" {
		return
	}
	var said []string
	if w.Protocol != "" {
		said = append(said, w.Protocol)
	}
	if w.Reused {
		said = append(said, "had carried other requests before")
	}
	r.add("Connection", endsOf(w.Local, w.Remote), text(after(said)))
}

func endsOf(local, remote string) part {
	switch {
	case local == "":
		return code("to " + remote)
	case remote == "":
		return code("from " + local)
	}
	return code(local + " → " + remote)
}

// after puts remarks behind something.
func after(said []string) string {
	if len(said) == 0 {
		return ""
	}
	return ", " + strings.Join(said, ", ")
}

// entry is one line of a log.
type entry struct {
	When  moment
	Often string
	What  string
}

// entriesOf returns the newest entries of a log, at most so many, the newest first, and
// how many there are more.
func entriesOf(now time.Time, log []flightrecorder.Entry, most int) (out []entry, more int) {
	if len(log) > most {
		more = len(log) - most
		log = log[more:]
	}
	for _, e := range slices.Backward(log) {
		shows := entry{When: at(e.Time), What: shown(e.What, nameLimit)}
		if e.Time.IsZero() || now.Sub(e.Time) > 12*time.Hour {
			shows.When = momentOf(e.Time, e.Time.UTC().Format("Jan 2, 15:04:05")+" UTC")
		}
		if e.Count > 1 {
			shows.Often = many(e.Count, "time", "times") + ", last " + ago(now.Sub(e.Until))
		}
		out = append(out, shows)
	}
	return out, more
}
