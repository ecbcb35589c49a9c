// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// history is what happened to the guarded informers of a row, oldest first.
type history []event

// event is a freshness.Event in numbers that can be read back.
type event struct {
	At       time.Time
	Informer string
	Type     int
	Verdict  int
	Cure     int
	Behind   bool // of LevelChanged: something lags now
	Text     string
}

func newEvent(e freshness.Event) event {
	return event{At: e.Time, Informer: e.Informer.String(), Type: int(e.Type), Verdict: int(e.Verdict), Cure: int(e.Cure), Behind: e.Behind != freshness.LevelNone, Text: e.String()}
}

func (e event) is(t freshness.EventType) bool { return e.Type == int(t) }

func (e event) verdict() freshness.Verdict { return freshness.Verdict(e.Verdict) }

// tells tells whether the guard shows that it has noticed something.
func (e event) tells() bool {
	return e.is(freshness.CureStarted) || e.is(freshness.LevelChanged) && e.Behind || e.is(freshness.VerdictChanged) && e.verdict() != freshness.Fresh && e.verdict() != freshness.Syncing
}

// between returns what happened from one moment to another; a zero to is now.
func (h history) between(from, to time.Time) history {
	return slices.DeleteFunc(slices.Clone(h), func(e event) bool {
		return e.At.Before(from) || !to.IsZero() && !e.At.Before(to)
	})
}

// cures returns the cures that were started, or proven, in order.
func (h history) cures(t freshness.EventType) []freshness.Rung {
	var out []freshness.Rung
	for _, e := range h {
		if e.is(t) {
			out = append(out, freshness.Rung(e.Cure))
		}
	}
	return out
}

// verdicts returns the verdicts that were reached, in order.
func (h history) verdicts() []freshness.Verdict {
	var out []freshness.Verdict
	for _, e := range h {
		if e.is(freshness.VerdictChanged) {
			out = append(out, e.verdict())
		}
	}
	return out
}

// gravest returns the verdict that weighs most, the one at the start included.
func (h history) gravest(start freshness.Verdict) freshness.Verdict {
	worst := start
	for _, v := range h.verdicts() {
		if weight(v) > weight(worst) {
			worst = v
		}
	}
	return worst
}

// weight orders verdicts by what they ask of a person, or of a kubelet.
func weight(v freshness.Verdict) int {
	return slices.Index([]freshness.Verdict{
		freshness.Fresh, freshness.Suspect, freshness.Syncing, freshness.Unreachable, freshness.Blind,
		freshness.ControlPlaneStalled, freshness.Diverged, freshness.Stalled,
	}, v)
}

// since tells the history, in seconds since a moment.
func (h history) since(moment time.Time) string {
	var b strings.Builder
	for _, e := range h {
		if e.is(freshness.Read) || e.is(freshness.Proven) {
			continue
		}
		fmt.Fprintf(&b, "%8.1f s  %s\n", e.At.Sub(moment).Seconds(), e.Text)
	}
	return b.String()
}
