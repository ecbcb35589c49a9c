// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// Watch is a watch of an informer, as this process sees it. Times are by the wall clock;
// zero ones are not known, or not yet.
type Watch struct {
	// Open tells whether the reflector reads it. Initial tells whether it began with
	// initial events, and so took the place of a list.
	Open, Initial bool
	// Since is when its request was about to be sent, Answered when its headers came, and
	// Ended when the reflector let go of it.
	Since, Answered, Ended time.Time
	// Timeout is what the API server was asked to end it after.
	Timeout time.Duration
	// Local and Remote are the ends of its connection, as host:port. Reused tells whether
	// that had carried other requests before.
	Local, Remote string
	Reused        bool
}

func (s streamInfo) describe() Watch {
	return Watch{
		Open: s.open, Initial: s.initial, Since: s.began, Answered: s.answered, Ended: s.ended, Timeout: s.timeout,
		Local: s.ends.local, Remote: s.ends.remote, Reused: s.ends.reused,
	}
}

// ends are those of a connection.
type ends struct {
	local, remote string
	reused        bool
}
