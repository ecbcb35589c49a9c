// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiservers asks each of the API servers behind one address where its
// watch cache for a kind stands, so that a frozen one can be named.
//
// Informers are served from the watch cache of the API server that they happen to
// be connected to. If the datastore's watch behind it dies, writes and single reads
// go on, probes are green, and its informers see an old world. Through the usual
// address nobody knows whom a request reaches; at its own address a server can be
// asked, told from the others, and left.
//
// # Setup
//
//	servers, err := apiservers.New(cfg, apiservers.Options{})
//	monitor, err := freshness.New(freshness.Options{Servers: servers})
//
// It takes the right to list the kinds, which informers have, and one more:
//
//	apiVersion: rbac.authorization.k8s.io/v1
//	kind: Role
//	metadata:
//	  name: apiservers
//	  namespace: default
//	rules:
//	  - apiGroups: [discovery.k8s.io]
//	    resources: [endpointslices]
//	    resourceNames: [kubernetes]
//	    verbs: [get]
//
// and a RoleBinding to the program's ServiceAccount, in the same namespace. As a
// marker for controller-gen:
//
//	// +kubebuilder:rbac:groups=discovery.k8s.io,namespace=default,resources=endpointslices,resourceNames=kubernetes,verbs=get
//
// Where a right is missing, a [RightsError] holds the rule; [Find] at start tells
// before an incident does. With
// [Options].Addresses the EndpointSlice is not read. The program must be able to
// connect to the addresses, which a NetworkPolicy may not let it.
//
// # How it works
//
// Every kube-apiserver enters its address in EndpointSlice default/kubernetes, unless
// it listens on a loopback address, as in tests.
// [Find] reads it by a GET, which comes from the datastore, whatever watch caches
// say.
//
// Each server is then asked over a connection of its own, so that an answer says
// nothing but what this server has: by an empty, consistent LIST, which makes a
// living watch cache catch up with the datastore, and by the same at
// resourceVersion 0, which is answered from the cache as it is. No request is
// repeated. The connection is closed afterwards; files of certificates and tokens
// are read for each. The certificate is verified as [At] says.
//
// Measured on two servers of kube-apiserver 1.37.2 with etcd 3.7.0, on two cores:
// 100 ms for a kind that nobody else reads, most of it the wait for etcd's
// progress; 3.0 s where one of them is frozen.
//
// # Limits
//
// What load balancers of managed control planes enter is their own address, or
// none. Then one address is asked, over a connection of its own all the same; that
// only one is known is logged, once, and is no error. A server behind it cannot be
// named.
//
// Behind is a sign of a frozen cache only where the cache could have caught up:
// on API servers before 1.31, and on datastores that do not report their progress
// (older kine, dqlite), that of a quiet kind stays behind in health. Package
// freshness accuses no server by that alone. A cache that is merely late moves
// between two questions.
//
// resourceVersions compare within one datastore: not between an aggregated API and
// the rest. Something that ends TLS in front of the API servers may leave them with
// certificates for none of the names by which the program knows them, or not take
// the program's credentials at all; both show as Err.
//
// A credential plugin that hangs holds a question as it holds every other request.
package apiservers
