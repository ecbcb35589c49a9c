// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package generations holds the tests of reconcile.Generations on a real control plane,
// whose kube-controller-manager is the operator that goes blind. It exports nothing.
//
// kube-controller-manager reaches its API server through proxies of package faultproxy,
// and the API server its datastore; reconcile.Generations has a way of its own. What is
// measured is logged with -v, a line of JSON a scenario.
//
//	go test ./testing/generations          # about a minute
//	go test ./testing/generations -short   # nothing
//
// FRESHWATCH_SLOW=1 keeps 5,000 objects in churn for three minutes, in place of 1,000 for
// 20 seconds, and has a frozen kind of more than one page; give it -timeout=20m.
package generations
