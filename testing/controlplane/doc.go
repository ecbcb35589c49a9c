// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package controlplane starts a real etcd and a real kube-apiserver for tests and demos.
package controlplane
