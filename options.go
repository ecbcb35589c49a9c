// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/freshwatch/freshwatch/debugpage"
	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// DefaultDebugPath is where the page is, on the manager's metrics server.
const DefaultDebugPath = "/debug/freshwatch"

// Options configures a Guard. The zero value is ready for use: everything is on but
// ExitOnUnauthorized and Generations. Each part has the options of its own package, and
// what is left empty there has that package's default, with these exceptions: Logger and
// Clock are those below, and parts know of each other, as the comments say.
type Options struct {
	// Transport configures the connections and streams of all clients that are made from
	// the prepared config. An Observer of your own is called before the flight recorder's.
	Transport transport.Options

	// ExitOnUnauthorized ends the process when its credential is dead: 401s for 90 s without
	// a success, over a new connection too, which the API server itself confirms. It is the
	// cure where the pod holds a token that no one renews. For other settings than the
	// default ones leave it and set Transport.ExitOnUnauthorized.
	//
	// Defaults to false, for an exit is a restart that nobody counts: where an API server
	// refuses everybody for minutes, as with a wrong key after a change of its own, it does
	// not help, takes webhooks along, and is repeated with the kubelet's back-off, while a
	// process that stays goes on at once when the fault is over. 401s are counted, and each
	// informer is Unreachable because of them, either way.
	ExitOnUnauthorized bool

	// Freshness configures the monitor of all informers of the manager's cache. Its
	// Connections default to the prepared config's. An Observer of your own is called before
	// the flight recorder's.
	Freshness freshness.Options

	// Canary configures the Lease that the leader writes and has to see come back. It is on
	// where there is a namespace for the Lease: Canary.Namespace, else
	// ctrl.Options.LeaderElectionNamespace, else the pod's own. Outside of a pod with none of
	// these, as with `go run` on a laptop, it is off, which one log line says.
	//
	// Its Name defaults to ctrl.Options.LeaderElectionID and "-canary", as two operators in
	// one namespace have different ones, and to freshwatch-canary where there is no such ID.
	// The Role has to name the Lease, unless it is that for leader election which kubebuilder
	// scaffolds, for all Leases of the namespace. Its Monitor defaults to that of Freshness.
	//
	// With several replicas leader election has to be on. Without it each of them takes
	// itself for the leader, they write the same Lease, which all but one report as Blind, and
	// restarts are counted for all of them together.
	Canary watchcanary.Options

	// Reconcile configures the deadlines of controllers that are made with Complete. A
	// ReconciliationTimeout of ctrl.Options.Controller is the default of Default.Timeout. The
	// Lease and its namespace default to the canary's. Where there is no namespace, nothing
	// is restarted: a reconcile that does not return is reported, and that is all.
	Reconcile reconcile.DeadlinesOptions

	// Generations are kinds whose objects are read live, to find those that a controller
	// does not see.
	//
	// Defaults to none: nothing is read.
	Generations []reconcile.GenerationKind
	// GenerationOptions configures that.
	GenerationOptions reconcile.GenerationOptions

	// FlightRecorder configures the memory of what happened to informers and connections,
	// which is logged when a check begins to fail, and before an exit.
	FlightRecorder flightrecorder.Options

	// DebugPage configures the page that shows it. Its Recorder has to be empty.
	DebugPage debugpage.Options
	// DebugPath is the page's, on the manager's metrics server, where the server's
	// FilterProvider guards it as it does the metrics.
	//
	// Defaults to /debug/freshwatch. It has to begin with "/", and not to be taken.
	DebugPath string

	// Events configures the Kubernetes Events that tell of it. Without the right to write
	// them one log line says so. Lease and Namespace default to the canary's, Canary and
	// Reconciles to what this Guard has.
	Events freshevents.Options

	// Disable turns parts off. Of one that is off there is no trace: no check, no series, no
	// request.
	//
	// Defaults to none.
	Disable Parts

	// Registerer gets the collectors of all parts. It has room for one Guard: where a
	// process has several managers, each Guard needs one of its own, as from
	// prometheus.WrapRegistererWith.
	//
	// Defaults to controller-runtime's metrics.Registry.
	Registerer prometheus.Registerer

	// Logger is that of every part that has none of its own, with the part's name.
	//
	// Defaults to controller-runtime's, ctrl.Log, named freshwatch.
	Logger logr.Logger

	// Clock is for tests: that of every part that has none of its own.
	//
	// Defaults to the real clock.
	Clock clock.WithTickerAndDelayedExecution
}
