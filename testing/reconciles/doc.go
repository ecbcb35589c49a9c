// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconciles holds the tests of package reconcile's deadlines in operators as
// they run in a cluster. It exports nothing.
//
// Each test has managers of controller-runtime with controllers of ConfigMaps, which
// talk to a real kube-apiserver, some through proxies of package faultproxy. One
// ConfigMap, called stuck, meets what reconciles hang on; the others are edited all the
// while, and how long each edit waits for its reconcile is measured. For restarts there
// are processes, which a kubelet of a few lines probes and restarts. What is measured is
// logged with -v, a line of JSON a scenario.
//
//	go test ./testing/reconciles   # less than a minute, mostly waiting
//
// All of them need the server, so -short leaves them out. FRESHWATCH_SLOW=1 waits a
// minute longer for what is tried again once a minute.
package reconciles
