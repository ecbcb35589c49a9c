// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package freshinformers brings the informer factories of client-go under a
// freshness.Monitor, so that a program keeps them, and their listers.
//
// # Setup
//
// A generated factory, client-go's own or another project's, takes an informer
// that somebody else has made, if it comes before the factory has made its own:
//
//	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns))
//	informer, err := freshinformers.Register(monitor, factory, &corev1.ConfigMap{},
//		freshinformers.ListWatch(client.CoreV1().ConfigMaps(ns), nil))
//	lister := factory.Core().V1().ConfigMaps().Lister() // as ever
//
// The dynamic and the metadata factory have no such place. [NewDynamic] and
// [NewMetadata] make one that takes theirs:
//
//	factory, err := freshinformers.NewDynamic(monitor, client, freshinformers.Options{Namespace: ns})
//	informer := factory.ForResource(gvr).Informer() // as ever
//
// A single informer needs none of this: [ListWatch] and freshness.Monitor.NewInformer.
//
// # Considerations
//
// Register says nothing to kinds that nobody registers: their informers are made
// by the factory and watched over by nobody. A generated factory does not tell
// what it was made with, so its namespace and its list options have to be said
// again in ListWatch. Name what has to be there in freshness.Options.Expected, and
// the monitor tells where either was forgotten.
//
// What Register makes is known by the name of its Go type until its first request,
// "deployments" rather than "deployments.apps/v1", and over HTTP/1.1 without package
// transport for good. What the other two make is known by its own name at once.
//
// An informer that has stopped leaves its monitor, and its series go. Neither it
// nor its factory can be started again; make new ones, as after a lost leader
// lease.
//
// This package depends on all of client-go's informers and listers, which a
// program that has a factory is built from anyway, and not on controller-runtime.
package freshinformers
