// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// history is what happened to one informer, oldest first.
type history []freshness.Event

// since returns what happened after a moment.
func (h history) since(moment time.Time) history {
	return slices.DeleteFunc(slices.Clone(h), func(e freshness.Event) bool { return e.Time.Before(moment) })
}

// until returns what happened before a moment.
func (h history) until(moment time.Time) history {
	return slices.DeleteFunc(slices.Clone(h), func(e freshness.Event) bool { return !e.Time.Before(moment) })
}

func (h history) count(typ freshness.EventType) int {
	n := 0
	for _, e := range h {
		if e.Type == typ {
			n++
		}
	}
	return n
}

// cures returns the cures that were tried, or proven, in order.
func (h history) cures(typ freshness.EventType) []freshness.Rung {
	var out []freshness.Rung
	for _, e := range h {
		if e.Type == typ {
			out = append(out, e.Cure)
		}
	}
	return out
}

// verdicts returns the verdicts that were reached, in order.
func (h history) verdicts() []freshness.Verdict {
	var out []freshness.Verdict
	for _, e := range h {
		if e.Type == freshness.VerdictChanged {
			out = append(out, e.Verdict)
		}
	}
	return out
}

// verdict returns the one in force.
func (h history) verdict() freshness.Verdict {
	if all := h.verdicts(); len(all) > 0 {
		return all[len(all)-1]
	}
	return freshness.Syncing
}

// detected returns how long after a fault the guard did or said something about
// it; negative: never.
func (h history) detected(fault time.Time) time.Duration {
	for _, e := range h.since(fault) {
		if e.Type == freshness.CureStarted || e.Type == freshness.VerdictChanged && e.Verdict != freshness.Fresh {
			return e.Time.Sub(fault)
		}
	}
	return -1
}

// freshAsOf returns what the newest proof has proven.
func (h history) freshAsOf() time.Time {
	for _, e := range slices.Backward(h) {
		if e.Type == freshness.Proven {
			return e.FreshAsOf
		}
	}
	return time.Time{}
}

// longestGap returns the longest time from one proof to the next, or to now.
func (h history) longestGap(now time.Time) time.Duration {
	var last time.Time
	var longest time.Duration
	gap := func(to time.Time) {
		if !last.IsZero() {
			longest = max(longest, to.Sub(last))
		}
		last = to
	}
	for _, e := range h {
		if e.Type == freshness.Proven {
			gap(e.Time)
		}
	}
	gap(now)
	return longest
}

// String tells the history, relative to its beginning.
func (h history) String() string {
	var b strings.Builder
	for _, e := range h {
		fmt.Fprintf(&b, "%7.1f s %v", e.Time.Sub(h[0].Time).Seconds(), e.Type)
		switch e.Type {
		case freshness.VerdictChanged:
			fmt.Fprintf(&b, " %v -> %v: %s", e.Previous, e.Verdict, e.Reason)
		case freshness.Read:
			fmt.Fprintf(&b, " %s", e.ResourceVersion)
		case freshness.Proven:
			fmt.Fprintf(&b, " as of %.1f s", e.FreshAsOf.Sub(h[0].Time).Seconds())
		case freshness.CureStarted, freshness.CureProven, freshness.CureFailed:
			fmt.Fprintf(&b, " %v", e.Cure)
		case freshness.Audited:
			fmt.Fprintf(&b, " %d objects, lacks %q", e.Objects, e.Diverged)
		case freshness.AuditFailed, freshness.LevelChanged:
			fmt.Fprintf(&b, " %s", e.Reason)
		case freshness.ReadFailed, freshness.ServerAsked, freshness.WatchBegan:
			fmt.Fprintf(&b, " %s", e.Cause)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
