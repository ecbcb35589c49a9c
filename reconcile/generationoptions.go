// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// DefaultGenerationInterval is rare enough to cost nothing, and often enough for
	// DefaultGenerationLimit.
	DefaultGenerationInterval = 5 * time.Minute
	// MinGenerationInterval is for tests and tiny clusters.
	MinGenerationInterval = 2 * time.Second
	// MaxGenerationInterval bounds how late a lag is noticed.
	MaxGenerationInterval = time.Hour
	// DefaultGenerationLimit is hundreds of times what a healthy controller takes, and
	// longer than its cold start or a change of leaders. It is less than DefaultTimeout:
	// the objects behind a reconcile that hangs are told before it is ended.
	DefaultGenerationLimit = 10 * time.Minute
	// MaxGenerationLimit is that of every other limit of this package.
	MaxGenerationLimit = 24 * time.Hour
)

// GenerationOptions configures Generations. The zero value is ready for use.
type GenerationOptions struct {
	// Interval is how often each kind is read, or up to a tenth less, so that no two
	// programs read in step. Kinds are read one after the other, spread over the
	// Interval. A kind that cannot be read is tried again after an Interval, and then
	// more and more rarely, down to every fourth.
	//
	// Defaults to 5m. At least 2s, which is for tests and tiny clusters, at most 1h.
	Interval time.Duration

	// Limit is how long an object may trail before it lags. It is counted from the first
	// read that finds it trailing, so that a lag is told at most Limit and two Intervals
	// after the edit, give or take the time that a read takes.
	//
	// Defaults to 10m, and to 2 Intervals where that is more. At least an Interval, or what
	// merely was on its way at one read would lag at the next; at most 24h.
	Limit time.Duration

	// Logger gets one line when objects of a kind begin to lag, one when all have caught
	// up, and one when a kind cannot be read, or can be again.
	//
	// Defaults to controller-runtime's.
	Logger logr.Logger

	// Clock is for tests. The deadline of requests does not follow it.
	//
	// Defaults to the real clock.
	Clock clock.WithTicker
}

// withDefaults returns o completed and checked.
func (o GenerationOptions) withDefaults() (GenerationOptions, error) {
	if o.Interval == 0 {
		o.Interval = DefaultGenerationInterval
	}
	if o.Limit == 0 {
		o.Limit = max(DefaultGenerationLimit, 2*o.Interval)
	}
	if o.Logger.GetSink() == nil {
		o.Logger = log.Log.WithName("generations")
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	var errs []error
	if o.Interval < MinGenerationInterval || o.Interval > MaxGenerationInterval {
		errs = append(errs, fmt.Errorf("reconcile: GenerationOptions.Interval is %v, but must be at least %v and at most %v (it bounds what reading costs, and how late a lag is noticed)",
			o.Interval, MinGenerationInterval, MaxGenerationInterval))
	} else if o.Limit < o.Interval || o.Limit > MaxGenerationLimit {
		errs = append(errs, fmt.Errorf("reconcile: GenerationOptions.Limit is %v, but must be at least Interval, which is %v, and at most %v (or what was on its way at one read would lag at the next)",
			o.Limit, o.Interval, MaxGenerationLimit))
	}
	return o, errors.Join(errs...)
}
