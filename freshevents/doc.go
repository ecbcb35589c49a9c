// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package freshevents tells people who run an operator what is wrong with its informers,
// where they look first: kubectl describe pod and kubectl get events. What a flight
// recorder says of an incident, in one sentence, becomes a Kubernetes Event about the
// operator's own Pod.
//
// # Setup
//
//	var events atomic.Pointer[freshevents.Events] // a recorder is made before the manager
//	recorder, err := flightrecorder.New(flightrecorder.Options{
//		OnIncident: func(i flightrecorder.Incident) { events.Load().ObserveIncident(i) },
//	})
//	...
//	e, err := freshevents.New(mgr, freshevents.Options{Canary: canary.Status})
//	events.Store(e)
//	err = mgr.Add(e)
//	metrics.Registry.MustRegister(e)
//
// It needs what Role returns, one rule in the namespace of the Pod:
//
//	rules:
//	- apiGroups: [""]
//	  resources: [events]
//	  verbs: [create, patch]
//
// The Role for leader election that kubebuilder scaffolds has it. Without it nothing else
// is affected: one log line, at the start, says which rule to add.
//
// A program without controller-runtime gives New a watchcanary.Client, and calls Start.
//
// # What is told
//
// See Reason. All are Warnings but InformerHealed and CanaryHealed, which are Normal. An
// incident that was told is told to be over; a cure that has worked before anybody was
// told is one InformerHealed. Not told: suspicions that came to nothing, connections that
// were lost, since the watches go on over others, and an API server that cannot be
// reached, which could not be told of it, and which says nothing about a cache. Those are
// in the log, in metrics, and in package flightrecorder. No Event holds contents or names
// of objects but for the Lease's, nor anything secret.
//
// # The object
//
// The token that the kubelet gives a pod names the Pod and its UID, and so no right and no
// environment variable is needed to find it. Where the client has no such token, Events are
// about the canary's Lease, and where there is none either, Options.Object has to say.
//
// # How many
//
// At most 10 Events at once, of all reasons together, and one a minute after that; at most
// one a minute of one reason, and that 10 s after it first happened: what strikes several
// informers is one Event, "12 of 14 informers". What has to wait is gathered in one note a
// reason, and nothing is thrown away. 5 Events of a reason within an hour are told apart;
// those after them are one more, that client-go's correlator brings up to date. 1,000
// informers that stall within a minute and are healed are 4 writes, and 2 if they do so at
// once.
//
// # An API server that is away
//
// An Event that cannot be written is kept, and tried again after 1 s, 2 s and so on up to a
// minute, for as long as it takes; what happens meanwhile is gathered. It is written with
// the times at which it happened, first and last. An Event that is refused, for a missing
// right or by a quota or a webhook, is dropped and counted.
//
// When Start's context ends, what is left is written at once, each Event once, in at most
// 5 s. A process that exits otherwise takes it along; the flight recorder logs what it has.
package freshevents
