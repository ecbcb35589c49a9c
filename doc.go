// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package freshwatch sets up the guards of a controller-runtime operator together. It has
// no logic of its own: what it does can be done with the packages below, one by one.
//
// An informer can go stale in silence. Its watch stops delivering without an
// error, the cache keeps its last state, and everything that reads from it goes on
// as if nothing had happened. The packages of this module notice that within a
// stated bound, heal it in place where that is possible, and tell it apart from
// what a restart would not help.
//
// # Setup
//
//	var guards freshwatch.Options
//	guards.BindFlags(flag.CommandLine)
//	flag.Parse()
//	mgr, err := freshwatch.NewManager(cfg, ctrl.Options{...}, guards)
//	err = freshwatch.Complete(mgr, "pods", ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}), r)
//
// [NewManager] takes the place of ctrl.NewManager, and [Complete] that of the builder's
// Named and Complete. For a manager that is made elsewhere there is [New], with
// [Guard.PrepareConfig], [Guard.PrepareManager] and [Guard.AddTo]. The pod's livenessProbe
// has to ask the manager's /healthz, and the canary needs the Role of package watchcanary:
// see [Options].
//
// # Packages
//
//   - freshness monitors the informers of a process: it proves each one fresh
//     through the informer's own List, and resumes or relists the one that is not.
//     It plugs into controller-runtime without importing it, and works with
//     client-go alone.
//   - transport guards the connections below: PINGs for each rest.Config, bounded
//     watches and lists, ends after which informers resume, a diagnosed exit when the
//     token is dead.
//   - freshclient puts the monitor under controller-runtime's clients: writes as
//     evidence, and reads gated on freshness.
//   - freshinformers has client-go's factories with monitored informers, and
//     apiservers asks the API servers behind one address one by one.
//   - watchcanary writes a Lease that the process must see come back, and asks for
//     restarts where they help.
//   - reconcile guards what happens after the cache: deadlines, wedged workers, a gate
//     that requeues while what a reconciler reads is known to be stale, and objects that
//     an operator does not see any more.
//   - flightrecorder remembers what happened to informers and connections, and says in a
//     sentence what it was; debugpage shows it, and freshevents writes it as Kubernetes
//     Events.
//   - testing/controlplane starts a real etcd and kube-apiserver from a Go test.
//   - testing/faultproxy makes real faults on command, between client and API
//     server and between API server and etcd.
//   - testing/freshtest has a scripted API server and a fake clock, for tests that
//     take milliseconds.
//
// Each package stands alone, and those without controller-runtime in their description do
// not import it.
//
// # Words
//
// The store is the client's cache, the watch cache the API server's. To resume is
// to watch again from the last resourceVersion, which costs one request; to relist
// is to list everything again. A resync replays the store to its handlers and says
// nothing about freshness. A proof is a resourceVersion read from the server at a
// known time that the store has since reached: the store then holds every change
// committed before that time. The staleness bound is now minus the newest such time.
//
// # Considerations
//
// Silence proves nothing: a healthy watch on a quiet resource may deliver neither
// event nor bookmark for minutes, and a frozen watch cache goes on sending
// bookmarks. That is why proofs read from the server, once a minute and at the cost
// of one request that returns nothing, and why nothing here restarts a process
// because an API server cannot be reached or is itself behind.
package freshwatch
