// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package controlplane starts a real etcd and a real kube-apiserver for tests and demos, and does to them what happens in clusters: it
// freezes them, restarts them, and takes the datastore back in time.
//
// What a watch does when the datastore hangs, or when resourceVersions go backwards, is decided in the server's watch cache. An imitation
// would only repeat what its author believes. Here the programs are the released source, on 127.0.0.1, without containers or root.
//
// # Setup
//
// None, if there is a Go compiler and a module proxy. The programs are taken from the first of these places that has them all:
//
//  1. the directory in KUBEBUILDER_ASSETS;
//  2. the cache, freshwatch/controlplane/<kubernetes>-etcd<etcd> in the user's cache directory ([os.UserCacheDir]);
//  3. setup-envtest, if that command is on PATH and its download site answers within a minute;
//  4. a build from Go modules into the cache, with progress on Options.Log.
//
// Kine, which is no part of Kubernetes, comes from the cache, or is built into it when it is first asked for: two minutes.
//
// Options.Log says which it was. A first build of all four programs takes ten minutes on two idle cores, 4 GB in Go's build cache, 1 GB in
// its module cache and 0.3 GB for the programs; etcd and kube-apiserver alone take three quarters of that. Later builds take seconds, as
// long as Go's build cache keeps the packages. Callers in several processes build once, the others wait. "go test" gives up after ten
// minutes by default, so build ahead of time:
//
//	go run github.com/freshwatch/freshwatch/testing/controlplane/cmd/controlplane build
//
// # Usage
//
// [Start] returns when the server is ready, some five seconds after the programs are there. [ControlPlane.Config] is the
// administrator's client configuration; [ControlPlane.User] and [ControlPlane.ServiceAccount] are for those with fewer rights. Then:
//
//   - [ControlPlane.Pause] and [ControlPlane.Resume] freeze a component and let it go on.
//   - [ControlPlane.Restart] is a crash and a quick return, on the same address.
//   - [ControlPlane.Checkpoint] and [ControlPlane.Rewind] restore an earlier state of etcd, so that resourceVersions go backwards.
//   - Options.WrapEtcd puts a proxy between kube-apiserver and etcd.
//   - Options.Datastore = [Kine] has a SQLite database behind kine in place of etcd, and all of this works on it.
//   - [ControlPlane.AddAPIServer] starts another kube-apiserver on the same etcd.
//
// [ControlPlane.Stop] kills everything. On Linux the kernel does so, too, when the calling process ends without it: a panic, a test
// timeout, SIGKILL. The temporary directory that is then left is removed by the next Start.
//
// # Implementation
//
// The module that is built from is generated, because k8s.io/kubernetes points to its own modules by paths that are not in its zip: each is
// replaced by its published twin of the same release. Kine is built from a module of its own. Versions are those of Kubernetes's go.mod, flags are those of a release build
// (-trimpath, no symbols, version set), so that /version says what runs.
//
// Components are addressed by ports below the kernel's range for outgoing connections, so that a client which retries during a restart
// cannot take the server's port. They see almost nothing of the environment.
//
// # Limits
//
//   - Linux and macOS. On macOS components outlive a caller that is killed.
//   - No nodes: no kubelet, so pods stay Pending. The "kubernetes" Service has no endpoints, and webhooks are reached by URL only.
//   - Without Options.ControllerManager nothing is garbage-collected, namespaces stay Terminating, the aggregated roles "admin", "edit" and
//     "view" are empty, and pods need no ServiceAccount.
//   - One member of each component but kube-apiserver. etcd does not fsync, and kine seldom does, so the data do
//     not survive a power loss.
//   - Users beside ServiceAccounts are impersonated, see [ControlPlane.User]. There are no client certificates.
//   - Only the patch release in the table of this package is built of each minor version.
package controlplane
