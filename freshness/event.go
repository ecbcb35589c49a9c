// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"fmt"
	"time"
)

// EventType says what happened to an informer.
type EventType int

const (
	// VerdictChanged: Verdict, Previous and Reason are set.
	VerdictChanged EventType = iota
	// Read: the API server was read at ResourceVersion.
	Read
	// Proven: the cache holds every change committed up to FreshAsOf.
	Proven
	// CureStarted: Cure is being tried.
	CureStarted
	// CureProven: after Cure the overdue proof has been reached.
	CureProven
	// CureFailed: it has not, within the time that Cure needs.
	CureFailed
	// Audited: Objects were compared with the API server's, and Diverged are those
	// that differ.
	Audited
	// AuditFailed: Reason is why.
	AuditFailed
	// LevelChanged: Behind is what lags now, and Reason says more.
	LevelChanged
	// ReadFailed: the API server could not be read, and Reason is why.
	ReadFailed
	// ServerAsked: the API server was asked where its own watch cache for the kind stands.
	// ResourceVersion is its answer, and Server what that says of an overdue proof; where
	// it did not answer, Reason is why.
	ServerAsked
	// WatchBegan: the informer has a new watch, which is Watch.
	WatchBegan
)

var eventNames = [...]string{"VerdictChanged", "Read", "Proven", "CureStarted", "CureProven", "CureFailed", "Audited", "AuditFailed", "LevelChanged", "ReadFailed", "ServerAsked", "WatchBegan"}

// String returns the type's name.
func (t EventType) String() string {
	if t < 0 || int(t) >= len(eventNames) {
		return fmt.Sprintf("EventType(%d)", int(t))
	}
	return eventNames[t]
}

// awaited tells whether somebody may wait for such an event.
func (t EventType) awaited() bool {
	return t == Proven || t == VerdictChanged || t == Audited || t == AuditFailed
}

// Event is one thing that happened to an informer. It holds no contents of objects
// and nothing secret.
type Event struct {
	Time     time.Time
	Informer Informer
	Type     EventType

	// Verdict, Previous and Reason belong to VerdictChanged.
	Verdict, Previous Verdict
	Reason            string
	// Cause is, in one word, what keeps the informer from being watched or read, with
	// VerdictChanged and ReadFailed: unreachable, busy, late, broken, unauthorized,
	// forbidden, not-served, conversion, undecodable, versions, expired or refused. Empty:
	// nothing does.
	Cause string
	// ResourceVersion belongs to Read and ServerAsked, and is what reads of the cache are
	// at with VerdictChanged and CureStarted.
	ResourceVersion string
	// Server and SameConnection belong to ServerAsked. The latter tells whether the answer
	// came over the connection that the informer's watch is on.
	Server         ServerState
	SameConnection bool
	// Watch belongs to WatchBegan, VerdictChanged and CureStarted. With the latter two it is
	// the watch as it was before anything was done about it; Moved is when the store's
	// resourceVersion was last seen to move, to within two seconds, and ByEvent whether an
	// event did that, or else a bookmark or a list. Zero: it never has.
	Watch   Watch
	Moved   time.Time
	ByEvent bool
	// FreshAsOf belongs to Proven.
	FreshAsOf time.Time
	// Behind belongs to LevelChanged.
	Behind Level
	// Cure belongs to CureStarted, CureProven and CureFailed, as does Verdict, which is
	// what the informer is held to be at the time.
	Cure Rung
	// Objects and Diverged belong to Audited. Objects are named, as namespace/name, and
	// nothing of their contents is told.
	Objects  int
	Diverged []string
}

// String tells what belongs to the event's type, and nothing else.
func (e Event) String() string {
	s := e.Informer.String() + ": " + e.Type.String()
	switch e.Type {
	case VerdictChanged:
		return fmt.Sprintf("%s from %v to %v: %s", s, e.Previous, e.Verdict, e.Reason)
	case Read:
		return s + " at " + e.ResourceVersion
	case Proven:
		return fmt.Sprintf("%s up to %s", s, e.FreshAsOf.Format(time.RFC3339Nano))
	case Audited:
		return fmt.Sprintf("%s %d objects, %d differ", s, e.Objects, len(e.Diverged))
	case AuditFailed, ReadFailed:
		return s + ": " + e.Reason
	case ServerAsked:
		return fmt.Sprintf("%s, its cache has %v what is overdue, at %q%s", s, e.Server, e.ResourceVersion, e.Reason)
	case WatchBegan:
		return fmt.Sprintf("%s from %s to %s", s, e.Watch.Local, e.Watch.Remote)
	case LevelChanged:
		return fmt.Sprintf("%s to %v: %s", s, e.Behind, e.Reason)
	default:
		return s + " " + e.Cure.String()
	}
}
