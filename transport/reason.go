// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

// EndReason says why a list or watch ended.
type EndReason int

const (
	// EndedServer: the server ended it, as it should.
	EndedServer EndReason = iota
	// EndedClient: whoever made the request ended it.
	EndedClient
	// EndedStatus: it was answered with an error.
	EndedStatus
	// EndedPing: its connection did not answer a PING.
	EndedPing
	// EndedConnection: its connection broke, or its response did.
	EndedConnection
	// EndedHeaders: its response did not begin within HeaderTimeout.
	EndedHeaders
	// EndedIdle: it brought nothing for IdleTimeout.
	EndedIdle
	// EndedAge: the server did not end it when it was due, nor within Grace.
	EndedAge
	// EndedRenewed: it began with initial events, and reached MaxWatch.
	EndedRenewed
	// EndedStalled: a list made no progress for ListTimeout.
	EndedStalled
	// EndedRecycled: Recycle closed its connection.
	EndedRecycled
	// EndedAsked: EndStreams was called.
	EndedAsked
)

var reasonNames = [...]string{
	"server", "client", "status", "ping", "connection", "headers", "idle", "age", "renewed", "stalled", "recycled", "asked",
}

// String returns the value of the label "reason" in metrics.
func (r EndReason) String() string {
	if r < 0 || int(r) >= len(reasonNames) {
		return "unknown"
	}
	return reasonNames[r]
}
