// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// moveGap is between attempts to reach another API server: a new connection, a
	// short watch, and two answers of that server.
	moveGap = 30 * time.Second
	// moveRest is how long after the last attempt the next round begins.
	moveRest = 10 * time.Minute
	// movesKnown is how often a round tries where an API server is known to be up to
	// date: a load balancer that picks one of two at random sends five connections to
	// the wrong one once in 32 rounds.
	movesKnown = 5
	// askServersEvery is how often the API servers are asked one by one while a watch
	// cache is frozen.
	askServersEvery = time.Minute
)

// servers is what the API servers behind one address say while the watch cache of
// one of them is frozen.
type servers struct {
	asking  bool
	nextAsk time.Time
	known   []ServerCache
	moves   int       // in this round
	next    time.Time // no move before
}

// askServers asks the API servers one by one where they stand.
func (s *state) askServers(o observation) []action {
	d := s.doubt
	if !s.hasServers || !s.frozen() || !s.bookmarks || d.servers.asking || o.now.Before(d.servers.nextAsk) {
		return nil
	}
	d.servers.asking, d.servers.nextAsk = true, o.now.Add(askServersEvery)
	return []action{{kind: actServers}}
}

// onServers takes their answers.
func (s *state) onServers(known []ServerCache) {
	for i, c := range known {
		if c.Err == nil && !comparableRV(c.ResourceVersion) {
			known[i].Err = fmt.Errorf("%w: %q", errNotComparable, c.ResourceVersion)
		}
	}
	if d := s.doubt; d != nil {
		d.servers.asking, d.servers.known = false, known
	}
}

// move leaves an API server whose watch cache is frozen for another, if there may be
// one: with new connections, and a watch that has to prove itself. Where nobody
// knows of others, that is tried once.
func (s *state) move(o observation) []action {
	d := s.doubt
	if !s.frozen() || !s.bookmarks || d.curing || d.servers.asking || o.now.Before(d.servers.next) || !o.stream.open || !slices.Contains(s.cures, Reconnect) {
		return nil
	}
	attempts := 1
	if upToDate, behind := d.split(); len(upToDate) > 0 {
		attempts = movesKnown
	} else if len(behind) > 0 {
		attempts = 0
	}
	if d.servers.moves >= attempts {
		d.servers.moves, d.servers.next = 0, o.now.Add(moveRest)
		return nil
	}
	d.servers.moves++
	d.servers.next = o.now.Add(moveGap)
	act := s.startCure(o.now, Reconnect)
	act.move = true
	return []action{act}
}

// split names the API servers whose watch cache has what the informer lacks, and
// those whose has not.
func (d *doubt) split() (upToDate, behind []string) {
	for _, c := range d.servers.known {
		switch {
		case c.Err != nil:
		case reached(c.ResourceVersion, d.proof.rv):
			upToDate = append(upToDate, c.Server)
		default:
			behind = append(behind, fmt.Sprintf("%s (at %s)", c.Server, c.ResourceVersion))
		}
	}
	return upToDate, behind
}

// serverReason names the API servers one by one.
func (d *doubt) serverReason() string {
	upToDate, behind := d.split()
	var parts []string
	if len(behind) > 0 {
		parts = append(parts, "frozen: "+strings.Join(behind, ", "))
	}
	if len(upToDate) > 0 {
		parts = append(parts, "up to date: "+strings.Join(upToDate, ", "))
	}
	for _, c := range d.servers.known {
		if c.Err != nil {
			parts = append(parts, fmt.Sprintf("no answer from %s: %s", c.Server, oneLine(c.Err)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, "; ")
}
