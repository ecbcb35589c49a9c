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
	// VerdictChanged: Verdict and Reason are set.
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
)

var eventNames = [...]string{"VerdictChanged", "Read", "Proven", "CureStarted", "CureProven", "CureFailed"}

// String returns the type's name.
func (t EventType) String() string {
	if t < 0 || int(t) >= len(eventNames) {
		return fmt.Sprintf("EventType(%d)", int(t))
	}
	return eventNames[t]
}

// Event is one thing that happened to an informer. It holds no object and
// nothing secret.
type Event struct {
	Time     time.Time
	Informer Informer
	Type     EventType

	// Verdict, Previous and Reason belong to VerdictChanged.
	Verdict, Previous Verdict
	Reason            string
	// ResourceVersion belongs to Read.
	ResourceVersion string
	// FreshAsOf belongs to Proven.
	FreshAsOf time.Time
	// Cure belongs to CureStarted, CureProven and CureFailed.
	Cure Rung
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
	default:
		return s + " " + e.Cure.String()
	}
}
