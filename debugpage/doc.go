// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package debugpage shows what a flight recorder holds, as a page for a person and as JSON
// for a program. The page answers, from top to bottom: is something wrong, and what; since
// when, and on what evidence; which informers, connections and reconciles are concerned.
//
// # Setup
//
// On the metrics server of a controller-runtime manager, behind its authentication:
//
//	page, err := debugpage.New(debugpage.Options{Recorder: recorder})
//	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
//		Metrics: metricsserver.Options{
//			BindAddress: ":8443", SecureServing: true,
//			FilterProvider: filters.WithAuthenticationAndAuthorization,
//			ExtraHandlers:  map[string]http.Handler{"/debug/freshwatch": page},
//		},
//	})
//
// Who may see it needs the verb get on the nonResourceURL /debug/freshwatch. How to reach it
// with a browser, and what each field means, is in docs/debugpage.md.
//
// # What it is made of
//
// One answer, with its style and its script in it: nothing is loaded from elsewhere, and a
// policy that names the two by their hashes has browsers refuse everything else. Without
// scripts the page works, and reloads itself. It holds no contents of objects, no
// credentials and no queries, but names of informers, addresses of connections, and the
// requests of reconciles, which are names of objects: do not serve it to everybody.
//
// # Cost
//
// Nothing until somebody asks. Then one Snapshot of the recorder, and a page of about 40 kB
// for ten informers; with 1,000 it stays below 1.5 MB, by saying less of the fresh ones.
// Incidents that go on are shown whole: 1,000 at once make 3 MB.
package debugpage
