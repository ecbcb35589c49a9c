// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// Incident is a time in which an informer was not fresh, or a connection died.
type Incident struct {
	// ID tells incidents of one recorder apart, and grows.
	ID int `json:"id"`
	// Informer is whose incident it is; zero: that of a connection, or of the credential.
	Informer freshness.Informer `json:"informer,omitzero"`
	Began    time.Time          `json:"began"`
	// Ended is zero while it goes on.
	Ended time.Time `json:"ended,omitzero"`
	// Verdict is the last that said what is wrong: one that says less, a suspicion or that
	// the API server cannot be reached either, does not replace it.
	Verdict freshness.Verdict `json:"verdict"`
	// Layer is where the fault lay, and Diagnosis what it was, in one sentence.
	Layer     Layer    `json:"layer"`
	Diagnosis string   `json:"diagnosis"`
	Evidence  Evidence `json:"evidence"`

	worth bool                 // it is not just a suspicion that has come to nothing
	alive []freshness.Informer // on the same connection, some of them
}

const (
	// aliveAtMost bounds alive.
	aliveAtMost = 16
	// ailingTogether is how far apart proofs of one connection's watches become overdue.
	ailingTogether = freshness.DefaultMaxStaleness
)

// Open tells whether it goes on.
func (i Incident) Open() bool { return i.Ended.IsZero() }

// of tells whether it is an informer's.
func (i Incident) of() bool { return i.Informer != freshness.Informer{} }

// severity orders verdicts by how much they say about what is wrong.
func severity(v freshness.Verdict) int {
	switch v {
	case freshness.Fresh, freshness.Syncing:
		return 0
	case freshness.Suspect:
		return 1
	case freshness.Blind:
		return 2
	case freshness.Unreachable:
		return 3
	case freshness.Diverged:
		return 4
	case freshness.Stalled:
		return 5
	case freshness.ControlPlaneStalled:
		return 6
	}
	return 1
}

// copied returns an incident that shares nothing with i.
func (i Incident) copied() Incident {
	i.Evidence.Cures = append([]Cure(nil), i.Evidence.Cures...)
	i.alive = nil
	return i
}
