// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package freshtest tests operators without a cluster: a scripted API server in the test's own process, with the watch
// cache, the bookmarks and the resourceVersions (RVs) of a real one, and faults that begin and end by a call.
//
// # Setup
//
//	func TestOperator(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			srv := freshtest.Start(t, freshtest.Options{Kinds: []freshtest.Kind{
//				{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets", Namespaced: true, Status: true},
//			}})
//			cfg := srv.Config() // a *rest.Config for clients, informers, caches and managers
//			...
//		})
//	}
//
// The server speaks HTTP/2 over TLS on connections in memory, so that what runs between a client and its informers in
// production runs in the test too: client-go's transport, its PINGs, its back-off. It serves discovery, typed, dynamic
// and metadata clients, informers by LIST and by WatchList, leader election and access reviews.
//
// # Time
//
// There are two ways not to wait for it.
//
//   - Inside [testing/synctest] with the real clock, the default: everything, client-go's timers and HTTP/2's included,
//     runs on the bubble's time. An hour takes milliseconds, and timers fire in order. Make the server, its clients and
//     their informers inside the bubble, and stop them before its function returns.
//   - With Options.Clock, such as the fake clock of k8s.io/utils/clock/testing: only the server, and what else was given
//     the clock, runs on it. StepUntil steps it. What waits for the server waits for steps: a read that is answered late
//     (FreshWait, ProgressDelay) is answered only when the clock is moved.
//
// # Usage
//
// Create, Update and Delete write as someone else would, past HTTP. Bump moves the global RV, as writes elsewhere do.
//
//	stall := srv.Stall(widgets)      // the open watches fall silent, but stay open
//	srv.Create(widget("a"))          // nobody hears
//	time.Sleep(2 * time.Minute)      // of the bubble
//	...                              // what does the operator do?
//	stall.Lift()
//
// Faults add up, are lifted one by one, and count their hits. Requests, Log and Watches tell what a cure cost.
//
// # What is as in kube-apiserver
//
// Read at v0.37.2 in k8s.io/apiserver/pkg/storage/cacher, and compared with a running server where that is marked
// (measured) in the project's design:
//
//   - One counter for all kinds; every write moves it, deletions included, and an update that changes nothing does not.
//   - The watch cache of a kind has an RV of its own. It moves with the kind's changes and when a read waits for a newer
//     one: a consistent LIST, one NotOlderThan, a GET with an RV, a WatchList. The cache of a quiet kind lags behind
//     (see Options.ProgressNotify).
//   - LIST: consistent without an RV, from the cache at 0 (where limit is ignored), NotOlderThan, Exact, limit and
//     continue; a limit with an RV and no match is exact. GET without an RV reads etcd, else the cache.
//   - A read at an RV that the cache does not reach within 3 s is answered with 504 "Too large resource version" and the
//     cause ResourceVersionTooLarge; a watch there is accepted and silent; a watch from an RV that is forgotten is
//     accepted and ends with an event of code 410.
//   - Bookmarks come once a minute and shortly before the watch's timeout, within a second or so of either, if the
//     cache's RV is beyond the one from which the watch began. The end of initial events is a bookmark, too.
//   - timeoutSeconds ends a watch without an error; without it, that happens after 30 to 60 min.
//
// # Limits
//
// The server answers in JSON only, and reads JSON, YAML and, for types of Options.Scheme, protobuf. It does not model:
// admission, validation, defaulting and conversion; garbage collection, namespaces that must exist or that take their
// contents along; field ownership: a server-side apply merges like a merge patch, or creates; JSON patches; dry runs;
// subresources other than status; discovery in aggregated form (clients fall back); several versions of a kind;
// priority and fairness; watches that are closed because their client is slow; several API servers behind one address.
// SelfSubjectAccessReviews know only what Deny says. A kind's history is kept until Compact.
package freshtest
