// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package diagnoses tests what the flight recorder says of real faults: each is made on a
// real kube-apiserver, between it and its clients, or in the client itself, and the test
// wants the sentence of diagnosis and the evidence that it rests on. Before each fault
// there is nothing to be said.
package diagnoses
