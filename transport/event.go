// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import "time"

// Event is what an Options.Observer is told.
type Event struct {
	// Time is when it happened, by Options.Clock.
	Time time.Time
	// Type says which of the other fields are set.
	Type EventType

	// Verb is "list" or "watch", and Stream what was asked for. Both are set for
	// StreamEnded, and for Refused where it was one of these.
	Verb   string
	Stream Stream
	// Reason is why a stream ended, or a connection.
	Reason EndReason
	// Status is the HTTP status of the response; 0: there was none.
	Status int
	// Connection is the one that was opened or closed, or that brought a 401 (zero
	// where that is not known). Of DialFailed it has Remote only, as it was dialed.
	// StreamEnded has its addresses in Stream.
	Connection Connection
}
