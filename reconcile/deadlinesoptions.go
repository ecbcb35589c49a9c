// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/freshwatch/freshwatch/internal/restartlease"
)

// DeadlinesOptions configures Deadlines. The zero value is ready for use in a pod.
type DeadlinesOptions struct {
	// Default is what every controller has. Its Name has to be empty. Its Timeout
	// defaults to the manager's ReconciliationTimeout, where that is set, and its Budget to
	// one on a Lease, as Restarts says.
	Default DeadlineOptions

	// Controllers are what single controllers have instead, by their names. Deadlines.Start
	// fails if one of them does not exist.
	//
	// Defaults to none.
	Controllers map[string]ControllerDeadline

	// Restarts configures the budget, unless Default.Budget or Default.NeverFail is set.
	// Outside of a pod its Namespace is needed. Its Window defaults to twice what Restarts
	// restarts take of a controller whose reconciles wedge at every attempt, if that is
	// more than 24h, and has to be at least once that.
	Restarts RestartBudgetOptions
}

// ControllerDeadline is what one controller has instead of the default: every field that
// is not zero. See DeadlineOptions for each.
type ControllerDeadline struct {
	Timeout, Grace, FailAfter time.Duration
	NeverFail                 bool
}

// withDefaults returns o completed and checked.
func (o DeadlinesOptions) withDefaults() (_ DeadlinesOptions, err error) {
	if o.Default.Name != "" {
		return o, fmt.Errorf("reconcile: DeadlinesOptions.Default.Name is %q, but must be empty: each controller has its own", o.Default.Name)
	}
	if o.Default, err = o.Default.withDefaults(); err != nil {
		return o, fmt.Errorf("%w (in DeadlinesOptions.Default)", err)
	}
	o.Controllers = maps.Clone(o.Controllers)
	var errs []error
	longest := o.Default.cycle()
	for _, name := range slices.Sorted(maps.Keys(o.Controllers)) {
		own, err := o.of(name).withDefaults()
		if err != nil {
			errs = append(errs, fmt.Errorf("%w (in DeadlinesOptions.Controllers[%q])", err, name))
		}
		longest = max(longest, own.cycle())
	}
	n := min(cmp.Or(max(0, o.Restarts.Restarts), DefaultRestarts), restartlease.RememberedAtMost)
	takes := time.Duration(n) * longest
	if o.Restarts.Window == 0 {
		o.Restarts.Window = min(max(DefaultRestartWindow, 2*takes), maxRestartWindow)
	}
	if ours := o.Default.Budget == nil && !o.Default.NeverFail; ours && o.Restarts.Window >= time.Minute && o.Restarts.Window < takes {
		errs = append(errs, fmt.Errorf("reconcile: RestartBudgetOptions.Window is %v, but must be at least %v, Restarts (%d) times Timeout, Grace and FailAfter, or it bounds nothing", o.Restarts.Window, takes, n))
	}
	return o, errors.Join(errs...)
}

// of returns the options of one controller.
func (o DeadlinesOptions) of(name string) DeadlineOptions {
	out, own := o.Default, o.Controllers[name]
	out.Name = name
	out.Timeout = cmp.Or(own.Timeout, out.Timeout)
	out.Grace = cmp.Or(own.Grace, out.Grace)
	out.FailAfter = cmp.Or(own.FailAfter, out.FailAfter)
	out.NeverFail = out.NeverFail || own.NeverFail
	out.Logger = out.Logger.WithValues("controller", name)
	return out
}
