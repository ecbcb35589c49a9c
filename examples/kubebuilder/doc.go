// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubebuilder holds the test of freshwatch.diff, which gives an operator as
// kubebuilder makes it, guestbook, all guards of freshwatch. It exports nothing.
//
// The operator is built with and without the diff, and both run as processes against a
// real kube-apiserver, as the ServiceAccount and with the rights that the scaffold has,
// through proxies that let a watch fall silent.
//
//	go test .          # a minute, and a few more for the first build
//	go test . -short   # without a server: the diff, and what the documentation has of it
package kubebuilder
