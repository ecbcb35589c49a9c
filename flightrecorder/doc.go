// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package flightrecorder answers "what was the trigger?" after the fact: it remembers
// what happened to every informer and connection, and says of each incident, in one
// sentence, what it was.
//
// # Setup
//
//	recorder, err := flightrecorder.New(flightrecorder.Options{})
//	guard, err := transport.Wrap(cfg, transport.Options{
//		Observer:           recorder.ObserveTransport,
//		ExitOnUnauthorized: &transport.ExitOptions{FlightRecorder: recorder},
//	})
//	monitor, err := freshness.New(freshness.Options{Connections: guard, Observer: recorder.ObserveInformers})
//	err = recorder.Attach(flightrecorder.Sources{Monitor: monitor, Transport: guard})
//	err = mgr.AddHealthzCheck("freshness", recorder.DumpWhenFailing(monitor.Check))
//
// Each of the two observers works without the other. Without package transport, nothing is
// known of bytes, protocols, and other watches on the same connection.
//
// # What it keeps
//
// An incident is a time in which an informer was not fresh, a handler that blocked, or a
// connection that died. Its Evidence is gathered when it begins, before any cure ends the
// stream that is to blame: when the last byte came and over which connection, what other
// watches on that connection and on others saw, what the API server said of itself, what
// was tried and what that showed. Suspicions that come to nothing are no incidents.
//
// Beside those, each informer has a ring of what happened to it, and the process one of
// what happened to connections. Proofs, a minute apart, are counted and not kept. What is
// recorded is dumped to the log when a check begins to fail and before an exit on 401s,
// and served as JSON and as a page by package debugpage.
//
// # Cost
//
// Nothing is done for an event of a watch. Package freshness tells of an informer a few
// times a minute, package transport once for each watch that ends; each costs a lock and a
// look-up. Memory is bounded by Options.Informers times BytesPerInformer and 1 MiB; 1,000
// quiet informers take a tenth of that.
//
// No contents of objects are recorded, no tokens and no queries. Objects are named only
// where an audit or an error of the API server's names them, and reconciles by their
// requests.
package flightrecorder
