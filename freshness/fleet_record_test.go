// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

var actionNames = map[actionKind]string{actRead: "read", actProbe: "probe", actAudit: "audit"}

// record is what happened to an informer, the newest of it or all.
type record struct {
	keep  bool // all
	notes []note
	at    int // where the next goes, once the ring is full
	tally tally
}

type note struct {
	at   time.Duration
	what string
	n    int64
}

func (n note) String() string {
	s := fmt.Sprintf("%15v  %s", n.at.Round(time.Microsecond), n.what)
	if n.n == 0 {
		return s
	}
	if n.n > int64(time.Millisecond) {
		return fmt.Sprintf("%s (%v)", s, time.Duration(n.n))
	}
	return fmt.Sprintf("%s (%d)", s, n.n)
}

const remembered = 200

func (r *record) note(t time.Duration, what string, n int64) {
	if r.keep || len(r.notes) < remembered {
		r.notes = append(r.notes, note{t, what, n})
		return
	}
	r.notes[r.at] = note{t, what, n}
	r.at = (r.at + 1) % remembered
}

// history tells what happened, oldest first.
func (r *record) history() string {
	var b strings.Builder
	for i := range r.notes {
		fmt.Fprintln(&b, r.notes[(r.at+i)%len(r.notes)])
	}
	return b.String()
}

var eventNotes = func() (names [len(eventNames)][len(rungNames)]string) {
	for e := range names {
		for r := range names[e] {
			names[e][r] = eventNames[e] + " " + Rung(r).String()
		}
	}
	return names
}()

// drain notes what the state says has happened.
func (l *life) drain(t time.Duration) {
	s := &l.state
	for _, e := range s.events {
		switch e.Type {
		case CureStarted, CureProven, CureFailed:
			l.note(t, eventNotes[e.Type][e.Cure], 0)
		case Proven:
			l.note(t, "Proven", int64(l.clock.when(e.FreshAsOf)))
		default:
			l.note(t, e.Type.String(), 0)
		}
	}
	s.events = s.events[:0]
}

func versionText(rv int64) string { return strconv.FormatInt(rv, 10) }

// tally is what one informer's life comes to, or many.
type tally struct {
	lives, steps, looks, unknown int
	lived                        time.Duration
	cures                        [len(rungNames)]int
	spent                        [len(verdictNames)]time.Duration // in health and calm, by verdict
	counters                     counters
	kinds                        [nFaultKinds]outcome
}

// outcome is what became of the faults of one kind.
type outcome struct {
	injected, healedOnes, convicted, cps, died int
	noticed, healed                            spread
}

func (o *outcome) over(s *stall) {
	o.healedOnes++
	for _, c := range []struct {
		is bool
		n  *int
	}{{s.convicted, &o.convicted}, {s.cps, &o.cps}, {s.died, &o.died}} {
		if c.is {
			*c.n++
		}
	}
}

// spread is how long things took.
type spread struct {
	n        int
	sum, max time.Duration
}

func (s *spread) add(d time.Duration) { s.n, s.sum, s.max = s.n+1, s.sum+d, max(s.max, d) }

func (s *spread) join(o spread) { s.n, s.sum, s.max = s.n+o.n, s.sum+o.sum, max(s.max, o.max) }

func (s spread) String() string {
	if s.n == 0 {
		return "never"
	}
	return fmt.Sprintf("%v on average, %v at most", (s.sum / time.Duration(s.n)).Round(time.Second/10), s.max.Round(time.Second/10))
}

func (y *tally) join(o tally) {
	y.lives, y.steps, y.looks, y.unknown = y.lives+o.lives, y.steps+o.steps, y.looks+o.looks, y.unknown+o.unknown
	y.lived += o.lived
	y.counters.add(o.counters)
	for i := range y.cures {
		y.cures[i] += o.cures[i]
	}
	for i := range y.spent {
		y.spent[i] += o.spent[i]
	}
	for i := range y.kinds {
		k, p := &y.kinds[i], o.kinds[i]
		k.injected, k.healedOnes = k.injected+p.injected, k.healedOnes+p.healedOnes
		k.convicted, k.cps, k.died = k.convicted+p.convicted, k.cps+p.cps, k.died+p.died
		k.noticed.join(p.noticed)
		k.healed.join(p.healed)
	}
}

func (y tally) String() string {
	var b strings.Builder
	c := y.counters
	fmt.Fprintf(&b, "%d informers, %v in all, %d looks and %d other steps; %d reads (%d failed), %d proofs, %d renewals, %d doubts; cures",
		y.lives, y.lived, y.looks, y.steps-y.looks, c.reads, c.failedReads, c.proofs, c.renewals, c.doubts)
	for r, n := range y.cures {
		fmt.Fprintf(&b, " %v %d (%d proven)", Rung(r), n, c.provenCures[r])
	}
	fmt.Fprintf(&b, "\nin health and calm:")
	for v, d := range y.spent {
		fmt.Fprintf(&b, " %v %v", Verdict(v), d.Round(time.Second))
	}
	for i, k := range y.kinds {
		fmt.Fprintf(&b, "\n%s: %d injected, %d over, %d called Stalled, %d ControlPlaneStalled, %d failed liveness; noticed after %v; proven healed after %v",
			faultNames[i], k.injected, k.healedOnes, k.convicted, k.cps, k.died, k.noticed, k.healed)
	}
	return b.String()
}
