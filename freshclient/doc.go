// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package freshclient puts a freshness.Monitor under controller-runtime's clients:
// writes of the operator tell the monitor what its informers owe, and reads that
// must not rest on old data are gated.
//
// # Setup
//
//	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
//		Cache:     cache.Options{NewInformer: monitor.NewInformer},
//		NewClient: freshclient.NewClientFunc(monitor),
//	})
//	careful, err := freshclient.NewReader(mgr.GetClient(), mgr.GetAPIReader(), monitor, freshclient.ReaderOptions{})
//
// # Writes
//
// Each successful create, update, patch and apply, of the status and other
// subresources too, hands its object's new resourceVersion to the monitor. A kind
// that the operator writes is then checked within seconds, and without a request.
// Dry runs and deletions are not reported. Nothing is delayed, and no error is
// added.
//
// # Reads
//
// A Reader serves from the cache while that is proven young enough, and from the
// API server otherwise. EnsureFresh waits for a proof instead. Both are for
// decisions that cannot be taken back: deleting what seems unused, scaling down
// what seems idle.
package freshclient
