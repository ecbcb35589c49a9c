// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the tests of what package freshness does to whole
// informers: faults are made on a server, and seen, named and cured, or left
// alone, by the guard. It exports nothing.
//
// # What is tested
//
// One table of scenarios runs on two servers with the same expectations:
//
//   - the scripted server of package freshtest, in the test's own process, where
//     an hour takes milliseconds;
//   - a real kube-apiserver and etcd from package controlplane, where the faults
//     are made by package faultproxy between client and API server and between
//     API server and etcd, and where a minute takes a minute.
//
// So what users see in their unit tests is what they get in a cluster. A stock
// informer without a guard runs beside each guarded one: where it sees the edit
// too, there was no fault and the scenario fails. The checks are run on guards
// that are broken on purpose as well, and have to object.
//
// What only a real server can show, such as informers of every representation, a
// busy kind, or a process that is stopped for minutes, has tests of its own. So has
// package transport, each of them with a stock client in the same test: what that
// one misses, or lists again, is what the wrapped one is there for.
//
// # How to run
//
//	go test ./testing/e2e          # everything: about six minutes, mostly waiting
//	go test ./testing/e2e -short   # the scripted server only: seconds
//
// The tests on the real server wait at the same time, whatever GOMAXPROCS is,
// unless -parallel is given. What they measured is logged with -v, and written as
// JSON to the file that FRESHWATCH_E2E_JSON names. FRESHWATCH_E2E_OBJECTS=50000
// fills informers with as many objects over a slow line, in place of 5,000, and takes
// some minutes more.
//
// Another control plane is chosen by two more variables, for everything that needs a
// real one:
//
//	FRESHWATCH_E2E_VERSION=1.34     # of Kubernetes, see package controlplane
//	FRESHWATCH_E2E_DATASTORE=kine   # kine with SQLite in place of etcd
//
// The datastore kine-without-progress is a kine that claims to be an etcd which does
// not report how far it is. It has a table of its own, for which -run
// "ScenariosOnRealServer|WatchCache" is meant. What held on which is in docs/compatibility.md.
package e2e
