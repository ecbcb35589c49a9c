// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"fmt"
	"time"
)

// This file decides whether an informer is stale. Everything else in the
// package gathers the evidence or acts on the verdict.

// Verdict says what is known about one informer.
type Verdict int

const (
	// Syncing: the initial list has not ended, or ended and has not been proven
	// yet.
	Syncing Verdict = iota
	// Fresh: the cache is proven to hold every change committed up to a moment
	// that is at most Options.MaxStaleness ago.
	Fresh
	// Suspect: a proof is overdue and nobody knows yet whose fault it is.
	Suspect
	// Stalled: the API server's own cache has what the informer lacks, and a
	// bookmark that should have brought it is overdue. The fault is between the
	// API server and this process. The only verdict that fails Check.
	Stalled
	// ControlPlaneStalled: the API server's watch cache itself stays behind the
	// datastore. Restarting this process does not help and may harm, since a new
	// one may never sync.
	ControlPlaneStalled
	// Diverged: the stream moves, but a comparison of contents has twice found objects
	// that differ from the API server's: events were lost on the way. A relist is
	// under way.
	Diverged
	// Unreachable: reads fail, which says nothing about staleness.
	Unreachable
	// Blind: the API server answers, but not in a way that proves anything:
	// forbidden, not served, or resourceVersions that cannot be compared.
	Blind
)

var verdictNames = [...]string{"Syncing", "Fresh", "Suspect", "Stalled", "ControlPlaneStalled", "Diverged", "Unreachable", "Blind"}

// String returns the verdict's name.
func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdictNames) {
		return fmt.Sprintf("Verdict(%d)", int(v))
	}
	return verdictNames[v]
}

// MarshalText implements encoding.TextMarshaler.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// evidence is all that a verdict rests on.
type evidence struct {
	synced bool          // the informer has its initial list
	proven bool          // at least one proof has succeeded
	bound  time.Duration // now minus the newest proof; only when proven

	overdue    bool        // a proof is overdue
	conclusive bool        // the overdue proof cannot be explained by a renewed stream or absent bookmarks
	server     ServerState // what the API server says of itself for the overdue proof
	follows    bool        // a bookmark has been seen, so the server's watch cache follows writes to other kinds
	diverged   bool        // contents differ, though resourceVersions do not

	read readState // how the last read of the API server ended
}

// readState is how the last read ended.
type readState int

const (
	readOK readState = iota
	readUnreachable
	readBlind
)

// judge turns evidence into a verdict.
//
// An overdue proof weighs more than an old success, and what the API server
// says of itself more than what this process believes: only a server that has
// the missing change makes the informer Stalled. A failed read weighs nothing
// while the last proof is young enough, so a blip stays Fresh.
func judge(e evidence, maxStaleness time.Duration) Verdict {
	switch {
	case !e.synced:
		return Syncing
	case e.overdue && e.server == ServerFrozen && e.follows:
		return ControlPlaneStalled
	case e.overdue && e.server == ServerFrozen:
		// A datastore that reports no progress leaves the cache of a quiet kind
		// behind for ever: nobody can tell that from a frozen one.
		return Blind
	case e.overdue && e.server == ServerReached && e.conclusive:
		return Stalled
	case e.diverged:
		return Diverged
	case e.proven && !e.overdue && e.bound <= maxStaleness:
		return Fresh
	case e.read == readUnreachable:
		return Unreachable
	case e.read == readBlind:
		return Blind
	case !e.proven && !e.overdue:
		return Syncing
	default:
		return Suspect
	}
}

// failsLiveness decides whether a restart is worth its price: only for a stall
// of this process's own making that has outlasted every cure for failAfter.
func failsLiveness(v Verdict, stalledFor, failAfter time.Duration) bool {
	return v == Stalled && stalledFor >= failAfter
}
