// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// The bounds that rows share. A busy machine may be late by some of it, a dead
// stream never comes.
const (
	// pinged is after how long the transport notices a dead connection, and some more.
	pinged = 30 * time.Second
	// promise is how long after a fault the guard has noticed, and healed it where the
	// first cure helps: one bookmark period, a cure, and a busy machine.
	promise = 90 * time.Second
	// recovery bounds the return to Fresh after a fault that nobody can cure.
	recovery = 110 * time.Second
	// beyondLiveness is longer than liveness takes to fail here, and the cures before.
	beyondLiveness = 100 * time.Second
)

// rows are all of them, in the order of the list.
func rows() []*row {
	all := slices.Concat(connectionRows(), serverRows(), streamRows(), contentRows(), datastoreRows(), kindRows(), processRows(), controlRows())
	for _, r := range all {
		r.job.Kind.Name = kindOf(r.id).Name
	}
	return all
}

// notProcess are the verdicts that blame this process.
func notProcess() []freshness.Verdict {
	return []freshness.Verdict{freshness.Stalled, freshness.Diverged}
}

// notServer are those that blame the control plane.
func notServer() []freshness.Verdict {
	return []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Blind, freshness.Unreachable}
}

// nobody are those that blame anybody.
func nobody() []freshness.Verdict { return slices.Concat(notProcess(), notServer()) }

// renewal is the cure that is also the quickest way to a proof: a watch that is
// renewed costs one request and sends nothing twice.
func renewal() []freshness.Rung { return []freshness.Rung{freshness.Resume} }

// ladder are all cures that any informer has.
func ladder() []freshness.Rung {
	return []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List}
}
