// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"

	"github.com/freshwatch/freshwatch/freshness"
)

const (
	// DefaultName is the Lease's. Two operators in one namespace need two names.
	DefaultName = "freshwatch-canary"
	// DefaultInterval is often enough for DefaultFailAfter, and two requests a minute.
	DefaultInterval = time.Minute
	// MinInterval keeps a canary below a request a second, retries included.
	MinInterval = 2 * time.Second
	// DefaultFailAfter is five writes: longer than client-go needs to give up a dead
	// connection by itself (45 s in client-go 0.37), and than any cure of package
	// freshness takes.
	DefaultFailAfter = 5 * time.Minute
	// DefaultRestarts is how many may be asked for: what three have not cured, a fourth
	// will not.
	DefaultRestarts = 3
	// DefaultRestartWindow is the time in which they count: twice what three take that do
	// not help, with the start of the pod between.
	DefaultRestartWindow = time.Hour
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
	// Defaults to 1m. At least 2s.
	Interval time.Duration

	// FailAfter is how long an acknowledged write may go unseen, its informer being
	// Stalled, before Check fails. A stall may begin right after a write was seen, so it
	// takes up to an Interval more.
	//
	// Defaults to 5m, and to 3 Intervals where that is more. At least 2 Intervals, so
	// that one late event is no stall.
	FailAfter time.Duration

	// Budget bounds restarts that do not help.
	Budget BudgetOptions

	// Monitor, if set, is that of the program's other informers: it monitors the
	// canary's as well, and cures it.
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
	// Restarts is how many may be asked for within Window. Then Check passes, and
	// Status.Exhausted and a metric say that somebody has to look.
	//
	// Defaults to 3. At least 1.
	Restarts int

	// Window is how long a restart that was asked for is remembered.
	//
	// Defaults to 1h. At least FailAfter times Restarts, or there is no limit.
	Window time.Duration

	// HealthyAfter is how long writes have to be seen until all is forgotten.
	//
	// Defaults to 15m. At least FailAfter, or a stall that begins again after each start
	// is taken for health.
	HealthyAfter time.Duration
}

// withDefaults returns o completed and checked.
func (o Options) withDefaults() (Options, error) {
	def(&o.Name, DefaultName)
	def(&o.Interval, DefaultInterval)
	def(&o.FailAfter, max(DefaultFailAfter, 3*o.Interval))
	def(&o.Budget.Restarts, DefaultRestarts)
	def(&o.Budget.Window, max(DefaultRestartWindow, 2*time.Duration(o.Budget.Restarts)*o.FailAfter))
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
	if o.Namespace, err = namespaceOr(o.Namespace, serviceAccountNamespace); err != nil {
		errs = append(errs, err)
	} else if text := validation.IsDNS1123Label(o.Namespace); len(text) > 0 {
		bad("Namespace is %q, but must be a namespace's name: %s", o.Namespace, text[0])
	}
	if o.Identity == "" {
		o.Identity = newIdentity()
	}
	if o.Interval < MinInterval {
		bad("Interval is %v, but must be at least %v", o.Interval, MinInterval)
	}
	if least := 2 * o.Interval; o.FailAfter < least {
		bad("FailAfter is %v, but must be at least %v, twice Options.Interval, so that one late event is no stall", o.FailAfter, least)
	}
	if o.Budget.Restarts < 1 {
		bad("Budget.Restarts is %d, but must be at least 1 (leave Check out of the liveness probe to have none)", o.Budget.Restarts)
	}
	if least := time.Duration(o.Budget.Restarts) * o.FailAfter; o.Budget.Window < least {
		bad("Budget.Window is %v, but must be at least %v, Options.FailAfter for each of the %d restarts, or they are forgotten before they are too many", o.Budget.Window, least, o.Budget.Restarts)
	}
	if o.Budget.HealthyAfter < o.FailAfter {
		bad("Budget.HealthyAfter is %v, but must be at least %v, Options.FailAfter, or what comes back after each restart is taken for health", o.Budget.HealthyAfter, o.FailAfter)
	}
	return o, errors.Join(errs...)
}

// serviceAccountNamespace is where the kubelet tells a pod its namespace.
const serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

func namespaceOr(given, file string) (string, error) {
	if given != "" {
		return given, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("watchcanary: Options.Namespace is empty, and this process does not run in a pod: set it to the namespace of the Lease (%w)", err)
	}
	return strings.TrimSpace(string(text)), nil
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
