// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"cmp"
	"fmt"

	"slices"

	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

// What a page shows, so that it stays small. What needs attention comes first, and all is
// in the JSON.
const (
	informersMost = 2000 // shown at all
	fullMost      = 150  // of those that are fresh, with all that is known of them
	openMost      = 12   // fresh ones in a list that is open at first
	failingOpen   = 3    // of those that are not, shown with all that is known at first
	entriesFull   = 48   // of the log of one
	entriesAll    = 3000 // of the logs of all
)

// informer is one as it is shown.
type informer struct {
	ID    string
	Name  string
	Face  face
	Bound bar
	Open  bool // at first
	// Rows are what is known, and Log what has happened to it, the newest first; More
	// entries are left out.
	Rows rows
	Log  []entry
	More int
}

// informers are all of them, the worst first.
type informers struct {
	All     int
	Failing []informer
	Fresh   []informer
	Open    bool // whether the fresh ones are shown at first
	Brief   bool // whether not everything is said of the fresh ones
	More    int  // not shown
}

func informersOf(s flightrecorder.Snapshot) informers {
	out := informers{All: len(s.Informers)}
	sorted := make([]int, len(s.Informers))
	for i := range sorted {
		sorted[i] = i
	}
	faces := make([]face, len(s.Informers))
	for i, in := range s.Informers {
		faces[i] = faceOfInformer(in.Verdict, in.Behind)
	}
	slices.SortStableFunc(sorted, func(a, b int) int {
		return cmp.Or(cmp.Compare(faces[a].Mood.order(), faces[b].Mood.order()), cmp.Compare(s.Informers[a].Name, s.Informers[b].Name))
	})
	if len(sorted) > informersMost {
		out.More = len(sorted) - informersMost
		sorted = sorted[:informersMost]
	}
	ids := ids{}
	logged := 0
	fresh := 0
	for _, i := range sorted {
		if faces[i].Mood == good {
			fresh++
		}
	}
	out.Open, out.Brief = fresh <= openMost, fresh > fullMost
	for _, i := range sorted {
		in, f := s.Informers[i], faces[i]
		brief := out.Brief && f.Mood == good
		entries := min(entriesFull, max(0, entriesAll-logged))
		view := informerOf(s.Time, in, f, brief, entries)
		view.ID = ids.of("informer", in.Name)
		logged += len(view.Log)
		if f.Mood == good {
			out.Fresh = append(out.Fresh, view)
		} else {
			view.Open = len(out.Failing) < failingOpen
			out.Failing = append(out.Failing, view)
		}
	}
	return out
}

// informerOf shows one. A brief one needs a third of the space.
func informerOf(now time.Time, in flightrecorder.Informer, f face, brief bool, entries int) informer {
	out := informer{Name: shown(in.Name, nameLimit), Face: f, Bound: barOf(in)}
	r := &out.Rows
	if !brief {
		out.Log, out.More = entriesOf(now, in.Log, entries)
		r.add("Verdict", text(in.Verdict.String()+" since "), when(since(now, in.Since)))
		r.reason(in.Reason)
	}
	r.proof(now, in)
	r.add("Last bookmark", when(since(now, in.Bookmark)))
	switch {
	case in.RV == "":
		r.add("resourceVersion", text("none yet"))
	case brief:
		r.add("resourceVersion", code(in.RV))
	default:
		r.add("resourceVersion", code(in.RV), text(", moved "), when(since(now, in.Moved)))
	}
	r.watch(now, in.Watch)
	r.connection(in.Watch)
	if brief {
		return out
	}
	r.add("API server read", when(since(now, in.LastRead)))
	r.add("Proofs", text(fmt.Sprintf("%s by %s, %s", number(in.Proofs), many(in.Reads, "read", "reads"), overdue(in.Doubts))))
	if in.Behind != freshness.LevelNone {
		r.add("Behind", text(behind(in)))
	}
	if in.Diverged > 0 {
		r.add("Objects that differ", text(number(in.Diverged)))
	}
	r.add("Cures", text(curesOf(in.Cures)))
	return out
}

func (r *rows) proof(now time.Time, in flightrecorder.Informer) {
	if in.FreshAsOf.IsZero() {
		r.add("Proven", text("not yet"))
		return
	}
	r.add("Proven", text("fresh as of "), when(since(now, in.FreshAsOf)))
}

// watch adds what is known of an informer's newest watch.
func (r *rows) watch(now time.Time, w flightrecorder.Watch) {
	if w.Since.IsZero() {
		r.add("Watch", text("none yet"))
		return
	}
	parts := []part{text("open for "), when(momentOf(w.Since, long(now.Sub(w.Since).Truncate(time.Second))))}
	if w.TimeoutSeconds > 0 {
		parts = append(parts, text(" of "+long(seconds(w.TimeoutSeconds))))
	}
	switch {
	case !w.Ended.IsZero():
		parts = []part{text("ended "), when(since(now, w.Ended)), text(endedBy(w.EndedBy)), text(", had been open for "), when(momentOf(w.Since, long(w.Ended.Sub(w.Since).Truncate(time.Second))))}
	case w.Answered.IsZero():
		parts = append(parts, text(", not answered yet"))
	}
	switch {
	case !w.LastByte.IsZero():
		parts = append(parts, text(", last byte "), when(since(now, w.LastByte)))
	case w.Protocol != "":
		parts = append(parts, text(", has brought nothing"))
	}
	r.add("Watch", parts...)
}

func endedBy(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

func overdue(n uint64) string {
	if n == 0 {
		return "none overdue"
	}
	return number(n) + " overdue"
}

func behind(in flightrecorder.Informer) string {
	switch in.Behind {
	case freshness.LevelStream:
		return "the stream: the API server has what it has not brought"
	case freshness.LevelStore:
		return "the store: it does not take what the stream brings"
	case freshness.LevelHandlers:
		return fmt.Sprintf("a handler: it has not returned for %s, and %s", long(seconds(in.Blocked).Truncate(time.Second)), many(in.Pending, "notification waits", "notifications wait"))
	default:
		return in.Behind.String()
	}
}
