// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"slices"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// This file decides whether reconciles are held. Everything else in the package
// asks the monitor or acts on the decision.

// kind is what is known of one kind that a reconciler reads.
type kind struct {
	of        freshness.Informer
	monitored bool
	stale     bool      // its verdict closes the gate
	unproven  bool      // not proven for the moment of the start yet
	reason    string    // why it closes the gate, for a person
	missing   time.Time // since when no informer of it is monitored; zero: one is, or that was logged
}

// closes tells whether the gate is closed for this kind.
func (k *kind) closes() bool { return k.stale || k.unproven }

// judge takes what the monitor says of the kind.
func (k *kind) judge(st freshness.Status, found bool, o GateOptions) {
	k.monitored = found
	switch {
	case found:
		k.stale = slices.Contains(o.Verdicts, st.Verdict)
		if k.stale {
			k.reason = st.Verdict.String() + ": " + st.Reason
		}
	default:
		k.stale = o.CloseUnmonitored
		k.reason = "no informer of it is monitored"
	}
}

// hold is whether the gate is closed.
type hold struct {
	since time.Time // zero: it is open
	over  bool      // closed for longer than allowed: reconciles are let through
}

// next is what h becomes when the gate is looked at.
func (h hold) next(now time.Time, closed bool, maxHold time.Duration) hold {
	switch {
	case !closed:
		return hold{}
	case h.since.IsZero():
		return hold{since: now}
	}
	h.over = maxHold > 0 && now.Sub(h.since) >= maxHold
	return h
}
