// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/internal/restartlease"
)

const (
	// DefaultName is the Lease's. Two operators in one namespace need two names.
	DefaultName = "freshwatch-canary"
	// DefaultInterval is often enough for DefaultFailAfter, and two requests a minute.
	DefaultInterval = time.Minute
	// MinInterval bounds what a canary costs: half a request a second, and a few more
	// while rights are missing or the Lease is contended.
	MinInterval = 2 * time.Second
	// MaxInterval bounds how late it notices.
	MaxInterval = time.Hour
	// MinFailAfter is what it takes to miss an event, and to ask the API server about it.
	// It has to be 2 Intervals as well, so 2m by default.
	MinFailAfter = 15 * time.Second
	// DefaultFailAfter is five writes: longer than client-go needs to give up a dead
	// connection by itself (45 s in client-go 0.37), and than any cure of package
	// freshness takes.
	DefaultFailAfter = 5 * time.Minute
	// DefaultRestarts is how many may be asked for: what three have not cured, a fourth
	// will not.
	DefaultRestarts = 3
	// DefaultRestartWindow is three times what lies between two restarts that do not help,
	// with the back-off of a pod that crashes.
	DefaultRestartWindow = time.Hour
	// restartTakes bounds the time from a failing check until the next process leads: the
	// kubelet backs off for up to five minutes.
	restartTakes = 10 * time.Minute
	// DefaultHealthyAfter is three times DefaultFailAfter: a stall that comes back with
	// every start shows in that time.
	DefaultHealthyAfter = 15 * time.Minute
)

// Options configures a Canary. The zero value is ready for use in a pod.
type Options struct {
	// Name of the Lease. Every operator in a namespace needs one of its own: two that
	// share it are told so, and the one that came first is Blind.
	//
	// Defaults to freshwatch-canary.
	Name string

	// Namespace of the Lease.
	//
	// Defaults to the pod's own, read from the files of its ServiceAccount.
	Namespace string

	// Identity of this process, the Lease's holder. It has to be another one in every
	// process, and may be read by whoever can read the Lease.
	//
	// Defaults to the host's name and a random part.
	Identity string

	// Interval is how often the Lease is written.
	//
	// Defaults to 1m. At least 2s, at most 1h.
	Interval time.Duration

	// FailAfter is how long an acknowledged write may go unseen, its informer being
	// Stalled, before Check fails. A stall may begin right after a write was seen, so it
	// takes up to an Interval more.
	//
	// Defaults to 5m, and to 3 Intervals where that is more. At least 15s and 2 Intervals,
	// so that one late event is no stall; at most 24h.
	FailAfter time.Duration

	// Budget bounds restarts that do not help.
	Budget BudgetOptions

	// Monitor, if set, is that of the program's other informers: it monitors the
	// canary's as well, and cures it. It has to be running, or nothing is ever Stalled.
	//
	// Defaults to one that cures nothing and has no metrics: the canary then stands for
	// informers that nobody cures.
	Monitor *freshness.Monitor

	// Logger gets one line for each change of state.
	//
	// Defaults to the logger in Start's context, and to klog's where it has none.
	Logger logr.Logger

	// Clock is for tests.
	//
	// Defaults to the real clock.
	Clock clock.WithTicker
}

// BudgetOptions bounds how often Check may ask for a restart. What was asked for is
// noted on the Lease, so that it survives the process.
type BudgetOptions struct {
	// Restarts is how many may be asked for that follow each other within Window. Then
	// Check passes, and Status.Exhausted, a log line and a metric say that somebody has to
	// look; it passes until writes have come back for HealthyAfter.
	//
	// Defaults to 3. At least 1, at most 32.
	Restarts int

	// Window is how long the last restart may be ago for the next one to count as another
	// attempt at the same fault.
	//
	// Defaults to 1h, and to twice its least where that is more. At least FailAfter, an
	// Interval and 10m, which is what lies between two that do not help; at most 30 days.
	Window time.Duration

	// HealthyAfter is for how long writes have to come back until all is forgotten.
	//
	// Defaults to 15m, and to 3 times FailAfter where that is more. At least FailAfter, or
	// what comes back after each start is taken for health; at most 24h.
	HealthyAfter time.Duration
}

// withDefaults returns o completed and checked.
func (o Options) withDefaults() (Options, error) {
	def(&o.Name, DefaultName)
	def(&o.Interval, DefaultInterval)
	def(&o.FailAfter, max(DefaultFailAfter, 3*o.Interval))
	def(&o.Budget.Restarts, DefaultRestarts)
	cycle := o.FailAfter + o.Interval + restartTakes
	def(&o.Budget.Window, max(DefaultRestartWindow, 2*cycle))
	def(&o.Budget.HealthyAfter, max(DefaultHealthyAfter, 3*o.FailAfter))
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("watchcanary: Options."+format, args...))
	}
	if text := validation.IsDNS1123Subdomain(o.Name); len(text) > 0 {
		bad("Name is %q, but must be an object's name: %s", o.Name, text[0])
	}
	var err error
	if o.Namespace, err = restartlease.Namespace("watchcanary: Options.Namespace", o.Namespace, restartlease.NamespaceFile); err != nil {
		errs = append(errs, err)
	} else if text := validation.IsDNS1123Label(o.Namespace); len(text) > 0 {
		bad("Namespace is %q, but must be a namespace's name: %s", o.Namespace, text[0])
	}
	if o.Identity == "" {
		o.Identity = newIdentity()
	}
	if n := o.Budget.Restarts; n < 1 || n > restartlease.RememberedAtMost {
		bad("Budget.Restarts is %d, but must be at least 1 and at most %d (leave Check out of the liveness probe to have none)", n, restartlease.RememberedAtMost)
	}
	const day = 24 * time.Hour
	for _, c := range []struct {
		name             string
		got, least, most time.Duration
		why              string
	}{
		{"Interval", o.Interval, MinInterval, MaxInterval, "it bounds the cost, and how late a stall is noticed"},
		{"FailAfter", o.FailAfter, max(MinFailAfter, 2*min(o.Interval, MaxInterval)), day, "twice Options.Interval, so that one late event is no stall"},
		{"Budget.Window", o.Budget.Window, min(cycle, 30*day), 30 * day, "Options.FailAfter, an Interval and what a restart takes, or none counts as another attempt"},
		{"Budget.HealthyAfter", o.Budget.HealthyAfter, min(o.FailAfter, day), day, "Options.FailAfter, or what comes back after each restart is taken for health"},
	} {
		if c.got < c.least || c.got > c.most {
			bad("%s is %v, but must be at least %v and at most %v (%s)", c.name, c.got, c.least, c.most, c.why)
		}
	}
	return o, errors.Join(errs...)
}

func newIdentity() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	return host + "_" + string(uuid.NewUUID())
}

func def[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
