// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package events holds the tests of package freshevents on a real kube-apiserver. It
// exports nothing.
//
// Each test has operators in Pods: managers of controller-runtime with the token that a
// kubelet would have asked for, bound to a Pod, and no other right than an operator has.
// They reach the API server through a proxy of package faultproxy. What people would see
// is read with the selector of kubectl describe pod.
//
//	go test ./testing/events   # some three minutes, mostly waiting
//
// All of them need the server, so -short leaves them out. What is measured is logged with
// -v, a line of JSON a scenario.
package events
