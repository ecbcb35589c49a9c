// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package watchcanary writes a Lease and waits to see the write come back over a
// watch, through the client and the connection that a program's other informers use.
// A write that was acknowledged and does not come back is a stall that no other sign
// shows: the pod runs, its probes pass, and nothing it watches ever changes.
//
// # Setup
//
//	canary, err := watchcanary.New(mgr, watchcanary.Options{})
//	...
//	err = mgr.Add(canary)
//	err = mgr.AddHealthzCheck("watch-canary", canary.Check)
//	metrics.Registry.MustRegister(canary)
//
// In the pod's namespace it needs what Role returns, which role.yaml beside this file
// is, too. Without it the canary is Blind and says which rule to add.
//
// A program without controller-runtime makes one from a Client, calls Start when it
// leads and Check in its liveness handler.
//
// # What it says
//
// Standby, Pending, Fresh, Stalled, Blind and ControlPlaneStalled; see State. Only
// Stalled, for Options.FailAfter, fails Check. What cannot be written says nothing about
// the watch: an API server that is away, rights that are missing, a Lease that somebody
// else writes make it Blind, which a metric and one log line tell, and no restart.
// Before it blames this process it asks a freshness.Monitor, which asks the API server
// whether its own watch cache has the write. Where it has not, it is the control plane.
//
// # Restarts
//
// A restart is noted in an annotation of the Lease before Check fails; what cannot be
// noted is not asked for. After Options.Budget.Restarts of them, each within
// Options.Budget.Window of the one before and no healthy spell between, Check passes,
// and Status.Exhausted, a log line and the metric
// freshwatch_canary_restart_budget_exhausted ask for a person.
//
// The budget is this Check's. With Options.Monitor the canary's informer is left out of
// that monitor's Check, which asks for restarts where other informers are stalled.
//
// # Considerations
//
// The canary stands for streams on its connection, not for every informer: one that
// has died alone is found by package freshness. Give both: with Options.Monitor the
// canary's informer is monitored and cured like the others, and a restart is asked for
// only where that has not helped.
//
// In a test with testing/freshtest, Stall on the Leases and no Options.Monitor make Check
// fail; with one, it is cured, as in production. See the package's example.
//
// It costs two requests a minute: the write, and the monitor's proof. Leader only:
// standbys write nothing and pass.
package watchcanary
