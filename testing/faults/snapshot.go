// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// snapshot is what is to be seen of the informers of a row at one moment,
// whichever process they are in.
type snapshot struct {
	Informers []informerState
	Events    history
	// Reasons are the sentences that the guard has had for a person, each once.
	Reasons []reason
	// Unhealthy is what the liveness check first objected to.
	Unhealthy string
	// Guarded and Stock are the color that each has of the edited object.
	Guarded, Stock string
	// Synced: all informers have their initial list.
	Synced bool
	// Ends counts why the transport ended lists and watches.
	Ends map[string]float64
	// Handled counts the notifications that a slow handler has done.
	Handled int64
}

// informerState is a freshness.Status in numbers that can be read back.
type informerState struct {
	Name      string
	Verdict   int
	FreshAsOf time.Time
	Proofs    uint64
	Doubts    uint64
	Renewals  uint64
}

func (i informerState) verdict() freshness.Verdict { return freshness.Verdict(i.Verdict) }

// reason is what the guard said, and when it said so first.
type reason struct {
	At      time.Time
	Verdict int
	Text    string
}

// freshSince tells whether every informer is proven for a moment after that one.
func (s snapshot) freshSince(moment time.Time) bool {
	return len(s.Informers) > 0 && !slices.ContainsFunc(s.Informers, func(i informerState) bool {
		return i.verdict() != freshness.Fresh || !i.FreshAsOf.After(moment)
	})
}

// proven tells whether every informer is fresh and has had so many proofs.
func (s snapshot) proven(proofs uint64) bool {
	return len(s.Informers) > 0 && !slices.ContainsFunc(s.Informers, func(i informerState) bool {
		return i.verdict() != freshness.Fresh || i.Proofs < proofs
	})
}

func (s snapshot) doubts() (n uint64) {
	for _, i := range s.Informers {
		n += i.Doubts
	}
	return n
}

func (s snapshot) renewals() (n uint64) {
	for _, i := range s.Informers {
		n += i.Renewals
	}
	return n
}

// says tells whether a reason given since a moment holds all of these words.
func (s snapshot) says(since time.Time, words ...string) bool {
	return slices.ContainsFunc(s.Reasons, func(r reason) bool {
		return !r.At.Before(since) && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(r.Text, w) })
	})
}

// routine are the ends of lists and watches that are nobody's fault.
func routine(reason string) bool {
	return slices.Contains([]string{"server", "client", "renewed", "asked", "status"}, reason)
}

// faulty counts the ends that are no routine.
func (s snapshot) faulty() (n float64) {
	for reason, count := range s.Ends {
		if !routine(reason) {
			n += count
		}
	}
	return n
}
