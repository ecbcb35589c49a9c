// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"fmt"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// This file decides what the canary says. Everything else in the package gathers the
// evidence, or acts on it.

// State is what a canary knows about the way from the API server to this process.
type State int

const (
	// Standby: this process does not lead, and writes nothing.
	Standby State = iota
	// Pending: it leads, and no write has come back yet.
	Pending
	// Fresh: the newest writes have come back.
	Fresh
	// Stalled: a write was acknowledged and has not come back, though the API server's
	// own cache has it. The only state in which Check may fail.
	Stalled
	// Blind: nothing can be told: the Lease cannot be written or read, or somebody else
	// writes it. No restart helps.
	Blind
	// ControlPlaneStalled: the API server's own watch cache lacks the write. A restart
	// may harm, since a new process may never sync.
	ControlPlaneStalled
)

var stateNames = [...]string{"Standby", "Pending", "Fresh", "Stalled", "Blind", "ControlPlaneStalled"}

// String returns the state's name.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("State(%d)", int(s))
	}
	return stateNames[s]
}

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

const (
	// lateAfter is how long the event of a write may take before anybody is asked why.
	lateAfter = 10 * time.Second
	// startGrace is how long after its start a canary may be without a result.
	startGrace = 2 * time.Minute
)

// evidence is all that a state rests on.
type evidence struct {
	leads    bool          // Start runs
	since    time.Duration // for which it has
	returned bool          // a write has come back in that time
	unseen   time.Duration // age of the oldest acknowledged write that has not; 0: none
	failing  time.Duration // for which no write was acknowledged though tried; 0: the last was
	blind    bool          // that was the state
	informer freshness.Verdict
}

// judge turns evidence into a state.
//
// A write that does not come back weighs most, and why is asked of the monitor: it
// knows whether the API server has it. A write that fails says nothing about the
// watch.
func judge(e evidence, interval time.Duration) State {
	overdue := e.unseen > lateAfter
	switch {
	case !e.leads:
		return Standby
	case e.since <= startGrace && !e.returned:
		return Pending
	case overdue && e.informer == freshness.Stalled:
		return Stalled
	case overdue && e.informer == freshness.ControlPlaneStalled:
		return ControlPlaneStalled
	case overdue && (e.informer == freshness.Unreachable || e.informer == freshness.Blind):
		return Blind
	case overdue && e.unseen > interval+lateAfter: // and nobody can say why
		return Blind
	case e.failing > interval, !e.returned && e.failing > 0:
		return Blind
	case e.blind && (e.unseen > 0 || e.failing > 0): // until a write has come back
		return Blind
	case !e.returned:
		return Pending
	}
	return Fresh
}

// outlasted tells whether a stall has lasted long enough for a restart to be worth its
// price.
func outlasted(s State, unseen, failAfter time.Duration) bool {
	return s == Stalled && unseen >= failAfter
}
