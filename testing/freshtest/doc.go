// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package freshtest tests operators without a cluster: a scripted API server in the test's own process, with the watch
// cache, the bookmarks and the resourceVersions (RVs) of a real one, and faults that begin and end by a call.
//
// # Setup
//
//	func TestMain(m *testing.M) {
//		freshtest.PrepareBubbles()
//		os.Exit(m.Run())
//	}
//
//	func TestOperator(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			srv := freshtest.Start(t, freshtest.Options{Kinds: []freshtest.Kind{
//				{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets", Namespaced: true, Status: true},
//			}})
//			mgr, err := ctrl.NewManager(srv.Config(), ctrl.Options{
//				Metrics:    metricsserver.Options{BindAddress: "0"}, // a real listener stops the bubble's time
//				Controller: config.Controller{SkipNameValidation: new(true)}, // several tests, one process
//			})
//			...
//			ctx, cancel := context.WithCancel(t.Context())
//			done := make(chan error, 1)
//			go func() { done <- mgr.Start(ctx) }()
//			...
//			cancel()
//			<-done // before the bubble ends
//		})
//	}
//
// Leave HealthProbeBindAddress empty too, and register metrics with a registry of
// the test's own.
//
// The server speaks HTTP/2 over TLS on connections in memory, so that what runs between a client and its informers in
// production runs in the test too: client-go's transport, its PINGs, its back-off. It serves discovery, typed, dynamic
// and metadata clients, informers by LIST and by WatchList, leader election and access reviews.
//
// # Time
//
// There are two ways not to wait for it.
//
//   - Inside [testing/synctest] with the real clock, the default. Everything, client-go's timers and HTTP/2's included,
//     runs on the bubble's time: an hour takes milliseconds, and timers fire in order. Start the server, its clients
//     and their informers inside the bubble, and stop them before its function returns. Needs PrepareBubbles.
//   - With Options.Clock, such as the fake clock of k8s.io/utils/clock/testing. Only the server, and whatever else was
//     given the clock, runs on it; Step and StepUntil move it. A read that is answered late (FreshWait, ProgressDelay)
//     is answered only when the clock is moved.
//
// Prefer the bubble where informers are concerned. With a fake clock the reflector's own back-off stays on the wall
// clock: a watch that ends within a second of real time without an event makes client-go wait for a second, in which a
// test may step through minutes. ExampleMonitor in package freshness shows the pattern that avoids it.
//
// # Usage
//
// Create, Update and Delete write as someone else would, past HTTP. Bump moves the global RV, as writes elsewhere do.
//
//	stall := srv.Stall(widgets)      // the open watches fall silent, but stay open
//	err := srv.Create(widget("a"))   // and nobody hears of it
//	time.Sleep(2 * time.Minute)      // of the bubble
//	...                              // what has the operator done?
//	stall.Lift()
//
// Assert what your operator saw, rather than how it was healed: right after the start a stalled informer is healed by a
// renewed watch before anybody suspects it. To see the verdict Stalled, let two minutes pass in which somebody writes
// (Bump), stall, write, and use StallNew as well where the cure has to fail, too. For lost events there are DropEvents,
// with freshness.Options.Audit.
//
// Faults add up, are lifted one by one, and count their hits. Log, Requests, Watches and Connections tell what a cure
// cost.
//
// # What is as in kube-apiserver
//
// Read in k8s.io/apiserver/pkg/storage/cacher and k8s.io/apiserver/pkg/endpoints at v0.37.2, and compared request by
// request with a running kube-apiserver of that version; texts of errors differ.
//
//   - One counter for all kinds. Every write moves it, a deletion too; an update that changes nothing writes nothing.
//   - The watch cache of a kind has an RV of its own. It moves with the kind's changes, and to the global RV when a
//     read waits for it: a consistent LIST, one NotOlderThan, a GET with an RV, a WatchList. That of a quiet kind stays
//     where it is (see Options.ProgressNotify).
//   - LIST is consistent without an RV, from the cache at 0 (where limit is ignored), NotOlderThan, or Exact, which a
//     limit with an RV and no match means too. GET reads etcd without an RV, else the cache.
//   - A read at an RV that the cache does not reach within 3 s is answered with 504 "Too large resource version", with
//     the cause ResourceVersionTooLarge and Retry-After. client-go repeats such a request ten times before it returns
//     the error, after 43 s; MaxRetries(0) or a context ends that.
//   - A watch from the future is accepted and silent until then. One from an RV that is forgotten is accepted, and ends
//     with an error event of code 410; a WatchList that cannot be served in time, with one of code 504.
//   - Bookmarks come once a minute and 2 s before the watch's timeout, as ticks of 1 to 1.25 s allow, if the cache's RV
//     is beyond the one at which the watch began. A cache that no longer moves therefore repeats its last one.
//   - timeoutSeconds ends a watch without an error; without it, that happens after 30 to 60 min.
//
// # Limits
//
// The server answers in JSON only, and reads JSON, YAML and, for types of Options.Scheme, protobuf. It does not model:
// admission, validation, defaulting and conversion; garbage collection; namespaces that must exist, or take their
// contents along; field ownership (a server-side apply merges like a merge patch, or creates); JSON patches; dry runs;
// subresources other than status; aggregated discovery (clients fall back); several versions of a kind; priority and
// fairness; the end of a watch whose client is slow; several API servers behind one address. SelfSubjectAccessReviews
// know only what Deny says. A kind's history grows until Compact, the log of requests for ever.
//
// Metadata-only informers of controller-runtime can leave a goroutine behind when they are stopped while their watch is
// open (apimachinery's watch.Filter, v0.37.2), which a bubble reports as a deadlock at its end. Close the server before
// they are stopped.
package freshtest
