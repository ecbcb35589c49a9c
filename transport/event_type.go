// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

// EventType says what has happened.
type EventType int

const (
	// StreamEnded: a list or watch has ended, for whatever reason, most of which are
	// no fault. Verb, Stream, Reason and Status are set.
	StreamEnded EventType = iota
	// ConnectionOpened: a connection is open, before anything was sent. Connection
	// is set.
	ConnectionOpened
	// ConnectionClosed: a connection is closed. Connection and Reason are set:
	// EndedPing for one that did not answer a PING while a list or watch was on it,
	// EndedRecycled, EndedHeaders for one that was given up as deaf, and
	// EndedConnection for what net/http or the far end has closed. It may come before
	// the ends of the streams over it, or after.
	ConnectionClosed
	// Refused: a request was answered with 401, whoever's credential it had. Status
	// is set, and Connection where it is known: for lists and watches, and for other
	// requests once there have been 401s.
	Refused
	// DialFailed: no connection could be opened. Connection.Remote is set.
	DialFailed
)

var eventNames = [...]string{"stream-ended", "connection-opened", "connection-closed", "refused", "dial-failed"}

// String returns a name for logs and pages.
func (e EventType) String() string {
	if e < 0 || int(e) >= len(eventNames) {
		return "unknown"
	}
	return eventNames[e]
}
