// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// DefaultTimeout is longer than nearly any reconcile takes that does not wait for
	// what cannot come, and shorter than most people take to notice.
	DefaultTimeout = 15 * time.Minute
	// DefaultGrace is longer than clean-up takes, and twice client-go's deadline for
	// most requests of a shutdown.
	DefaultGrace = time.Minute
	// DefaultFailAfter is time enough to read the report, and for a reconcile that is
	// merely slow in cleaning up to return.
	DefaultFailAfter = 5 * time.Minute

	minTimeout = time.Second
	maxTimeout = 24 * time.Hour
)

// DeadlineOptions configures a Deadline. The zero value is ready for use.
type DeadlineOptions struct {
	// Name is the controller's: the metrics' label "controller", and part of each
	// message. Deadlines that are registered with one registry need different ones.
	//
	// Defaults to none.
	Name string

	// Timeout is how long one reconcile may take. Then its context ends, with
	// context.DeadlineExceeded and a *DeadlineError as the cause. Where its context has an
	// earlier deadline, as of controller-runtime's ReconciliationTimeout, that one counts.
	//
	// Defaults to 15m. At least 1s, at most 24h.
	Timeout time.Duration

	// Grace is how much longer a reconcile may take to return once its context has
	// ended. One that has not is wedged: it is reported once, with its stack, and
	// counted.
	//
	// Defaults to 1m. At least 1s, at most 24h.
	Grace time.Duration

	// FailAfter is how much longer a reconcile has to be wedged until Check fails, so
	// that the process is restarted.
	//
	// Defaults to 5m. At least 1s, at most 24h.
	FailAfter time.Duration

	// NeverFail keeps Check from ever failing because of this controller: for one whose
	// workers are many, and whose requests can wait for a person.
	NeverFail bool

	// Budget bounds restarts that do not help: Check fails only once the budget has
	// granted it. A reconcile that wedges at every attempt would otherwise restart its
	// process for ever.
	//
	// Defaults to none, so that every wedged reconcile is worth a restart. NewDeadlines
	// has one.
	Budget Budget

	// Logger gets one line for each reconcile that is wedged, with its stack, and one when
	// such a one returns after all; one for whatever becomes of a restart; and, at most
	// every 10m, one with the stack of a reconcile whose deadline has passed.
	//
	// Defaults to controller-runtime's.
	Logger logr.Logger

	// Clock is for tests. It is not needed in a bubble of testing/synctest, whose time the
	// real clock tells there. Once the context of a reconcile has ended, what a fake clock
	// steps by more than 1s at a time is taken for a pause of the process, in which the
	// reconcile could not have returned, and does not count: step it by Timeout, and then
	// by seconds.
	//
	// Defaults to the real clock.
	Clock clock.WithDelayedExecution
}

// withDefaults returns o completed and checked.
func (o DeadlineOptions) withDefaults() (DeadlineOptions, error) {
	durations := []struct {
		field string
		value *time.Duration
		def   time.Duration
	}{{"Timeout", &o.Timeout, DefaultTimeout}, {"Grace", &o.Grace, DefaultGrace}, {"FailAfter", &o.FailAfter, DefaultFailAfter}}
	for _, d := range durations {
		if *d.value == 0 {
			*d.value = d.def
		}
		if *d.value < minTimeout || *d.value > maxTimeout {
			return o, fmt.Errorf("reconcile: DeadlineOptions.%s is %v, but must be at least %v and at most %v", d.field, *d.value, minTimeout, maxTimeout)
		}
	}
	if o.Budget != nil && isNil(o.Budget) {
		return o, fmt.Errorf("reconcile: DeadlineOptions.Budget is a nil %T, but must be one, or nothing", o.Budget)
	}
	if o.Logger.GetSink() == nil {
		o.Logger = log.Log.WithName("reconcile-deadline")
	}
	if o.Name != "" {
		o.Logger = o.Logger.WithValues("controller", o.Name)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}

// cycle is what lies between two restarts of a process in which a reconcile wedges at
// once.
func (o DeadlineOptions) cycle() time.Duration { return o.Timeout + o.Grace + o.FailAfter }
