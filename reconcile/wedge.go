// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// blocked is a reconcile that has just been found not to return.
type blocked struct {
	request any
	*running
	age time.Duration
}

const notFound = "not found: it has just returned, or there are too many goroutines"

// stacksOf returns where each of them is.
func stacksOf(all []blocked) []string {
	byAddress := stacksByAddress(allStacks())
	stacks := make([]string, len(all))
	for i, b := range all {
		stacks[i] = cmp.Or(byAddress[fmt.Sprintf("%p", b.running)], notFound)
	}
	return stacks
}

// values are those of a log line.
func (b blocked) values(stack string) []any {
	return []any{
		"request", fmt.Sprint(b.request), "reconcileID", controller.ReconcileIDFromContext(b.parent),
		"age", b.age.String(), "limit", b.limit.Round(10 * time.Millisecond).String(), "stack", stack,
	}
}

// report logs each of those that are wedged, with its stack.
func report(opts DeadlineOptions, wedged []blocked) {
	for i, stack := range stacksOf(wedged) {
		opts.Logger.Error(ErrWedged, "Reconcile is wedged: its context has ended, and it does not return. Its worker is lost until it does", wedged[i].values(stack)...)
	}
}

// overrunEvery bounds how often the stack of a reconcile that overruns is logged.
const overrunEvery = 10 * time.Minute

// cutOff ends the contexts of those whose deadline has passed, and logs where the first of
// them was then, if it is to.
func (w *watch[request]) cutOff(overrun []blocked, tell bool) {
	var stacks []string
	if tell {
		stacks = stacksOf(overrun[:1])
	}
	for _, b := range overrun {
		if b.limit == w.opts.Timeout { // else it is the parent's deadline, which ends it
			b.expire(w.overrun(b.request, b.running, 0))
		}
	}
	if tell {
		w.opts.Logger.Info("Reconcile has overrun its deadline: this is where it was then. Others within 10m are not told", overrun[0].values(stacks[0])...)
	}
}

// ErrWedged is matched by the error of Check.
var ErrWedged = errors.New("reconcile: wedged")

// Check implements controller-runtime's healthz.Checker. It fails while a reconcile runs
// that has been wedged for DeadlineOptions.FailAfter, unless DeadlineOptions.NeverFail is set,
// and once DeadlineOptions.Budget has granted the restart that this asks for. Use it
// for liveness, never for readiness. It takes a short lock and does no I/O.
//
// The error matches ErrWedged. It names controllers and numbers, but no requests: a server
// of probes may pass it on to whoever asks. controller-runtime's does not, nor does it
// log it; the lines "Reconcile is wedged" and "A restart is asked for" say why a process
// ended (kubectl logs --previous).
func (d *Deadline[request]) Check(*http.Request) error { return d.watch.asker.check() }
