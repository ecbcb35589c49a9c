// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// Informers that start together, or lose their connection together, have their
// bookmarks at the same second of every minute, and so their proofs. Those of a
// crowded second are given one watch of a random length: the next one, and its
// bookmarks, begin elsewhere in the minute.

const (
	// spreadEvery is how often informers are looked at together.
	spreadEvery = 5 * time.Second
	// spreadRest is how long an informer is left alone after it was moved.
	spreadRest = 5 * time.Minute
	// spreadAtOnce is how many watches are renewed in one look.
	spreadAtOnce = 10
	// spreadShortest leaves the server its pretimeout bookmark, and spreadLongest has
	// it within a minute.
	spreadShortest, spreadLongest = 5 * time.Second, time.Minute
	// spreadBefore is how old the newest proof may be, so that the watch has room to be
	// random in, and its proof comes within a minute of that one.
	spreadBefore = 40 * time.Second
)

// share is how many of n informers may have their proofs in the same second.
func share(n int) int { return max(3, 3*n/60) }

// spread tells the informers of crowded seconds to move. The caller holds the lock.
func (m *Monitor) spread(now time.Time) {
	if now.Sub(m.spreadAt) < spreadEvery {
		return
	}
	m.spreadAt = now
	var crowd [60]int
	granted := 0
	most := share(len(m.informers))
	for _, t := range m.informers {
		s := &t.state
		if !s.synced || s.doubt != nil || s.spreadWanted {
			continue
		}
		second := s.phase.next().from.Unix() % 60
		if crowd[second]++; crowd[second] > most && granted < spreadAtOnce*int(spreadEvery/tick) && now.Sub(s.spreadAt) > spreadRest {
			s.spreadWanted, t.rests = true, time.Time{}
			granted++
		}
	}
}

// disperse renews the watch of an informer that has to move, when nothing is waited
// for. The bookmark before that watch's end is its next proof.
func (s *state) disperse(o observation) []action {
	if !s.spreadWanted || s.pending != nil || s.reading || s.doubt != nil || s.bound(o.now) > spreadBefore ||
		!s.renewable(o) || o.stream.timeout <= spreadLongest {
		return nil
	}
	s.spreadWanted, s.spreadAt = false, o.now
	s.renew(o.now, s.provenRV)
	length := spreadShortest + s.jitter(o.now, spreadLongest-spreadShortest-s.bound(o.now))
	return []action{{kind: actCure, rung: Resume, length: length.Truncate(time.Second)}}
}
