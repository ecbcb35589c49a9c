// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconcile guards what happens after the cache: it keeps reconcilers from
// acting on a cache that is known to be stale.
//
// # Setup
//
// controller-runtime has a package of this name; import one of the two under another.
//
//	kinds, err := reconcile.Kinds(mgr.GetClient(), &corev1.Pod{}, &corev1.PersistentVolumeClaim{})
//	gate, err := reconcile.WithGate(r, monitor, kinds, reconcile.GateOptions{Name: "volume-cleaner", AtStart: true})
//	err = ctrl.NewControllerManagedBy(mgr).For(&corev1.PersistentVolumeClaim{}).Complete(gate)
//	err = metrics.Registry.Register(gate)
//
// monitor is a *freshness.Monitor, and gate takes the place of the reconciler r.
// Nothing is gated that is not wrapped; wrap the reconcilers that delete, scale
// down or hand out what somebody else may hold.
//
// # How it works
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
// A stall is known once it is found, up to 75 s after it began, and reconciles go
// on until then. Decisions that must not rest on older data have to wait for a
// proof: see freshness.Monitor.EnsureFresh, and package freshclient.
//
// A reconcile under way is not stopped when the gate closes.
//
// Unreachable, Blind, Suspect and Syncing close the gate only on request (see
// GateOptions.Verdicts): they say that nothing is known, not that something is
// stale. A kind without a monitored informer closes it only with
// GateOptions.CloseUnmonitored.
package reconcile
