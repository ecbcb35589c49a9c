// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// wedge is a reconcile that has just been found to be wedged.
type wedge struct {
	request any
	*running
	age time.Duration
}

// report logs each of them, with its stack.
func report(opts DeadlineOptions, wedged []wedge) {
	stacks := stacksByAddress(allStacks())
	for _, w := range wedged {
		stack, found := stacks[fmt.Sprintf("%p", w.running)]
		if !found {
			stack = "not found: it has just returned, or there are too many goroutines"
		}
		opts.Logger.Info("Reconcile is wedged: its context has ended, and it does not return. Its worker is lost until it does",
			"request", fmt.Sprint(w.request), "age", w.age.String(), "limit", w.limit.String(), "stack", stack)
	}
}

// ErrWedged is matched by the error of Check.
var ErrWedged = errors.New("reconcile: wedged")

// Check implements controller-runtime's healthz.Checker. It fails while a reconcile runs
// that has been wedged for DeadlineOptions.FailAfter, unless DeadlineOptions.NeverFail is set,
// and once DeadlineOptions.Budget has granted the restart that this asks for. Use it
// for liveness, never for readiness. It takes a short lock and does no I/O.
//
// The error matches ErrWedged. It names controllers and numbers, but no requests: whoever
// can reach the probe's port can read it.
func (d *Deadline[request]) Check(*http.Request) error { return d.watch.asker.check() }
