// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"errors"
	"fmt"
	"time"

	"github.com/freshwatch/freshwatch/internal/errtext"
	"github.com/freshwatch/freshwatch/internal/restartlease"
)

// blindness is why nothing can be told. A line is logged when it changes.
type blindness int

const (
	sighted   blindness = iota // it can
	unallowed                  // rights are missing
	rivalled                   // somebody else writes the Lease
	unwritten                  // it cannot be written
	unseen                     // a write has not come back, and nobody knows why
	untold                     // nothing is known
)

func (r *run) blindnessOf(informer string) blindness {
	switch {
	case len(r.missing) > 0:
		return unallowed
	case errors.Is(r.err, errContended), errors.Is(r.err, errConflicts):
		return rivalled
	case r.err != nil:
		return unwritten
	case informer != "":
		return unseen
	}
	return untold
}

// reason says in a sentence why the state is what it is.
func (c *Canary) reason(s State, now time.Time, informer string) string {
	r := c.run
	switch s {
	case Pending:
		return "no write has come back yet"
	case Fresh:
		return "writes come back"
	case Stalled, ControlPlaneStalled:
		return fmt.Sprintf("a write acknowledged %v ago has not come back: %s%s", r.beats.age(now).Round(time.Second), informer, r.afterthought())
	case Blind:
		return c.blindReason(r, now, informer)
	default:
		return "Start has not been called: this process does not lead, or the canary was not added to its manager"
	}
}

// afterthought says why no restart is asked for where one would be.
func (r *run) afterthought() string {
	switch {
	case r.exhausted:
		return "; no more restarts are asked for, since as many as are allowed have not helped: look for the cause"
	case !r.note.IsZero() && r.err != nil:
		return "; no restart is asked for, since it cannot be noted on the Lease: " + errtext.OneLine(r.err)
	}
	return ""
}

func (c *Canary) blindReason(r *run, now time.Time, informer string) string {
	switch r.blindnessOf(informer) {
	case unallowed:
		return restartlease.Lacking(r.missing, c.opts.Namespace, c.opts.Name, rules(c.opts.Name))
	case rivalled:
		return errtext.OneLine(r.err)
	case unwritten:
		return "the Lease cannot be written: " + errtext.OneLine(r.err)
	case unseen:
		return fmt.Sprintf("a write acknowledged %v ago has not come back, and it cannot be told why: %s", r.beats.age(now).Round(time.Second), informer)
	default:
		return "no write has come back"
	}
}
