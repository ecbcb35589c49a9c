// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconcile guards what happens after the cache. Deadlines keep a reconcile that
// never returns from holding its worker unseen, a gate keeps reconcilers from acting on a
// cache that is known to be stale, and Generations finds, from outside, the objects that an
// operator does not see any more, whatever the reason.
//
// # Setup
//
// controller-runtime has a package of this name; import one of the two under another.
//
//	deadlines, err := reconcile.NewDeadlines(mgr, reconcile.DeadlinesOptions{}) // one for all controllers
//	err = mgr.Add(deadlines)
//	err = mgr.AddHealthzCheck("reconcile", deadlines.Check)
//	err = metrics.Registry.Register(deadlines)
//	err = reconcile.Complete(deadlines, "pods", ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}), r)
//
// Complete takes the place of the builder's Named and Complete. A single reconciler gets
// a deadline by WithDeadline, one that is not made with a builder by WithDeadlines.
//
//	kinds, err := reconcile.Kinds(mgr.GetClient(), &corev1.Pod{}, &corev1.PersistentVolumeClaim{})
//	gate, err := reconcile.WithGate(r, monitor, kinds, reconcile.GateOptions{Name: "volume-cleaner", AtStart: true})
//
// monitor is a *freshness.Monitor, and gate takes the place of the reconciler r. Wrap
// the reconcilers that delete, scale down or hand out what somebody else may hold; where
// both are wanted, the gate goes into the deadline.
//
// # Deadlines
//
// After DeadlineOptions.Timeout, 15 minutes by default, the context of a reconcile ends.
// Once the reconcile has returned, its request goes back to the queue with an error, so
// that it is tried again. One that has not returned after another minute is wedged: it
// ignores its context, and Go has no means to stop it. It is reported once, with its
// stack, and counted; after five more minutes Check fails, since only a restart brings
// its worker back. Restarts that do not help come to an end: NewDeadlines grants three
// in a day, which an annotation of a Lease remembers. Without the right to write it,
// which package watchcanary's Role is, nothing is restarted.
//
// A reconcile runs in the goroutine of its worker, and nothing else is started for it:
// the price is one allocation and about a quarter of a microsecond. The same request never
// runs twice at once.
//
// controller-runtime's ReconciliationTimeout ends contexts, too, and says nothing of those
// who ignore it. Where it is set, the earlier deadline counts.
//
// # Gate
//
// Before each reconcile the gate looks at the verdicts on the kinds that the
// reconcile reads. While one of them is Stalled, Diverged or ControlPlaneStalled,
// the request goes back to its queue for a while, with its priority and without an
// error, so that neither back-off nor error metrics grow. When the gate closes and
// when it opens, one line is logged, whatever the number of requests.
//
// With GateOptions.AtStart the first reconciles wait besides until each kind is
// proven for the moment of the first one: after a restart or a change of leaders,
// nothing is decided on what an API server had in its cache some time ago.
//
// An open gate costs a lock and no allocation: the monitor, which looks at each
// informer twice a second, is asked no more often than that.
//
// # Limits
//
// A reconcile whose context has ended, and one under way when the gate closes, is not
// stopped: it has to look at its context, as every client call does. A manager waits for
// a wedged one until its GracefulShutdownTimeout is over, so a restart takes that much
// longer; let it be less than the pod's terminationGracePeriodSeconds.
//
// Messages print a request with %v: give a type of your own a String method that says no
// secrets.
//
// A stall is known once it is found, up to 75 s after it began, and reconciles go
// on until then. Decisions that must not rest on older data have to wait for a
// proof: see freshness.Monitor.EnsureFresh, and package freshclient.
//
// Unreachable, Blind, Suspect and Syncing close the gate only on request (see
// GateOptions.Verdicts): they say that nothing is known, not that something is
// stale. A kind without a monitored informer closes it only with
// GateOptions.CloseUnmonitored.
package reconcile
