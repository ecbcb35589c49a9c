// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// doubt is an overdue proof and what has been done about it.
type doubt struct {
	raised     time.Time // when it arose
	since      time.Time // the same, moved by pauses of the process
	blamed     time.Time // since when the stream is to blame; zero: it is not
	proof      proof
	conclusive bool
	verified   bool      // by a watch that was renewed in vain
	process    bool      // it is about the reflector alone, which has not come back
	owed       bool      // it is about a write of this process
	arrived    time.Time // when the stream brought it; zero: it has not
	stuck      bool      // and the store has still not taken it
	back       bool      // the API server went back in time: nothing to wait for, relist

	server      ServerState
	late        answer // the last that was behind, and not where the one before had been
	reachedAt   time.Time
	reachedConn string // the connection that this was told over
	probing     bool
	answered    bool // since the last cure
	nextProbe   time.Time

	servers  servers
	ladder   ladder
	cure     Rung
	curing   bool
	renewal  bool // the cure is but a renewed watch
	counted  bool
	verifyBy time.Time
	retries  int // of a watch that was ended before it could prove its cure
}

// early tells whether what is owed may be on its way: the API server's cache has just
// got it.
func (d *doubt) early(now time.Time) bool {
	return d.owed && d.server == ServerReached && now.Sub(d.reachedAt) < verifySlack
}

// convicts tells whether what is overdue cannot be explained by a renewed stream or
// absent bookmarks.
func (d *doubt) convicts() bool { return d.conclusive || d.stuck }
