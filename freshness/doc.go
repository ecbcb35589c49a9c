// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package freshness proves, once a minute and while nothing changes, that each
// informer of a program holds what the API server holds, and cures those that
// do not.
//
// # Setup
//
// With controller-runtime:
//
//	m, err := freshness.New(freshness.Options{})
//	mgr, err := ctrl.NewManager(cfg, ctrl.Options{Cache: cache.Options{NewInformer: m.NewInformer}})
//	err = mgr.Add(m)
//	err = mgr.AddHealthzCheck("freshness", m.Check)
//	err = metrics.Registry.Register(m)
//
// With client-go alone, make informers with [Monitor.NewInformer], or wrap their
// ListerWatcher with [Monitor.WrapListerWatcher] and pass them to
// [Monitor.Track]; run [Monitor.Start] in a goroutine.
//
// # How it works
//
// At a time T the monitor makes a consistent LIST that returns nothing, through
// the informer's own client, credentials, namespace and selectors. It yields the
// resourceVersion R that everything committed before T is at or below, and makes
// the API server's watch cache catch up to R, so that the next bookmark on the
// informer's stream carries at least R. Once the informer's store has reached R,
// it is proven to hold every change committed before T: FreshAsOf = T. The time
// since is the staleness bound.
//
// The API server sends bookmarks about once a minute, on a schedule of each
// stream's own. The monitor learns that phase and reads just before a bookmark
// is due, so a stall that begins at any moment is noticed at the next bookmark:
// after 31 s on average and 63 s at most where the informer is quiet, and within
// [Options].MaxStaleness, 75 s, wherever the bookmark cannot be told in advance.
//
// Where the store has not reached R in time, the monitor asks the API server
// whether its own watch cache has. If so, the stream is at fault, and a ladder
// of cures begins: [Resume], which costs one request and sends nothing twice,
// then [Relist], then [List], then, with Options.Connections, [Reconnect]. Each is
// verified within seconds by a short watch, whose bookmark comes 2 s before its
// end. If not, the API server is at fault: the verdict is [ControlPlaneStalled] and
// nothing is cured or restarted.
//
// Nothing sits between the stream and the reflector. The monitor polls two
// strings per informer twice a second, or every 2 s while nothing is due; an event
// costs no goroutine, channel or allocation more than without.
//
// # On demand
//
// [Monitor.EnsureFresh] returns once a kind's cache is proven for a moment of the
// caller's choice, for decisions that must not rest on old data. A MaxStaleness
// below 75 s proves that often by itself, and costs more requests. [Monitor.Wrote]
// takes note of the program's own writes, whose events the stream owes: without
// one within 5 s, it is suspected.
//
// # Beside proofs
//
// A proof shows that the stream moves, not that nothing was lost on the way. Once an
// hour an audit compares contents, see [AuditOptions]; what differs twice is
// [Diverged] and relisted. [Status].Behind tells stream, store and handlers apart;
// handlers only if they were added with [Monitor.AddEventHandler]. Options.Servers
// names the API server that is frozen, Options.Expected the informer that nobody
// started.
//
// The rules are in verdict.go, as pure functions.
//
// # Several clusters
//
// One monitor per cluster, with its metrics under a label of the cluster:
//
//	prometheus.WrapRegistererWith(prometheus.Labels{"cluster": name}, registry).MustRegister(m)
//
// Managers of one cluster in one process may have a monitor each or share one; it
// runs with the one it is added to.
//
// # Limits
//
// Proofs need bookmarks, a watch cache that answers consistent LISTs (Kubernetes
// 1.31 and later) and a datastore that reports progress; without the last, a quiet
// informer ends up [Blind], and is compared every 10 min instead. Events that
// kube-apiserver's own watch cache has lost are found once the server has noticed
// (1.34 and later), or by the next audit (before).
package freshness
