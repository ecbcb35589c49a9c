// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package canary holds the tests of package watchcanary in an operator as it runs in a
// cluster. It exports nothing.
//
// An operator is a Deployment here: one or two processes, each with a
// controller-runtime manager, leader election, a cache of ConfigMaps and a canary, that
// a kubelet of a few lines probes and restarts. They talk to a real kube-apiserver
// through proxies of package faultproxy, which make the faults and count who writes
// what. What is measured is logged with -v, a line of JSON a scenario.
//
//	go test ./testing/canary          # about four minutes, mostly waiting
//	go test ./testing/canary -short   # what needs no server: seconds
//
// FRESHWATCH_SLOW=1 keeps the API server away for 10 minutes in place of one; give it
// -timeout=20m.
package canary
