// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

// Parts are what a Guard is made of, those that are meant are true.
type Parts struct {
	// Transport is package transport: without it connections and watches are as client-go
	// makes them.
	Transport bool
	// Freshness is package freshness, and freshclient: without it informers are not
	// monitored, and the canary has a monitor of its own.
	Freshness bool
	// Canary is package watchcanary.
	Canary bool
	// Reconcile is the deadlines of package reconcile: without them Complete is the
	// builder's.
	Reconcile bool
	// FlightRecorder is package flightrecorder: without it there is no page, and Events tell
	// of the canary and of reconciles alone.
	FlightRecorder bool
	// DebugPage is package debugpage.
	DebugPage bool
	// Events is package freshevents.
	Events bool
}
