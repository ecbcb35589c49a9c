// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// follow keeps the phase in step with the stream.
func (s *state) follow(o observation) {
	if !s.synced {
		s.begin(o)
	}
	if p := s.pending; p != nil && o.stream.conn != s.conn {
		p.elsewhere = true
	}
	s.conn = o.stream.conn
	if o.stream.id != s.stream {
		s.atStart = s.reflected
	}
	opening := s.opening(o)
	s.beginning = o.stream.id != s.stream || opening || s.wasOpening
	s.wasOpening = opening
	if !s.beginning {
		return
	}
	s.begunAt = o.now
	s.cleanEnd(o)
	if s.stream != o.stream.id {
		s.stream, s.away = o.stream.id, 0
		s.emit(Event{Time: o.now, Type: WatchBegan, Watch: o.stream.describe()})
	}
	s.phase = s.firstPhase(o)
	if s.plan(); opening {
		s.nextRead = latest(s.nextRead, s.lastRead.Add(retryRead)) // there is no bookmark to be in time for
	}
	if s.pending != nil && s.doubt == nil {
		s.pending.await(o.now, s.phase, s.stream)
	}
}

// begin takes note of the end of the first list.
func (s *state) begin(o observation) {
	s.synced, s.lastRead = true, o.now
	if o.stream.initial {
		s.syncTook = o.now.Sub(o.stream.began)
	}
	if s.lastCure == List && !s.curedAt.IsZero() {
		s.proveCure(o.now, List)
	}
	if o.stream.consistent && o.stream.open && (o.stream.id == 1 || s.unsynced) { // or it may be another than the one it synced from
		s.prove(o.now, o.stream.began, o.stored)
	} else {
		s.readSoon = o.now // a LIST filled the store, and may have been answered from an old cache
	}
}

// firstPhase is that of a stream that has begun.
func (s *state) firstPhase(o observation) phase {
	if o.stream.began.Before(s.slipped) {
		return unknownPhase(o.now)
	}
	began := o.stream.start(o.now)
	if o.stream.initial {
		// Bookmarks are counted from the end of the initial events.
		began = window{latest(s.looked, o.stream.began), o.now.Add(bookmarkLatest - 60*time.Second)}
		if s.atStart != "" {
			began.from = o.stream.began // their end may have moved nothing, and an event later
		}
	}
	return newPhase(began, o.stream.deadline(o.now))
}

// roll moves on to the next bookmark once its predecessor's window has closed.
func (s *state) roll(now time.Time) {
	var rolled bool
	if s.phase, rolled = s.phase.roll(now); rolled {
		s.plan()
	}
}

// plan sets the next read for just before the next bookmark, but not later than
// one period after the last proof: where streams never live until their bookmark,
// the phase alone would put it off for ever.
func (s *state) plan() {
	s.nextRead = s.phase.next().from.Add(-lead(s.latency))
	limit := s.lastRead.Add(bookmarkLatest)
	if !s.freshAsOf.IsZero() {
		limit = latest(s.freshAsOf.Add(bookmarkLatest), s.lastRead.Add(retryRead))
	}
	if s.nextRead.After(limit) {
		s.nextRead = limit
	}
}

// cleanEnd takes the ordinary end of a short watch for the proof it is: opened
// when the server's cache was known to hold the change, and ended by the server
// in time, it has brought all there was to bring. Where no bookmark came with
// it, this server sends none.
func (s *state) cleanEnd(o observation) {
	d, p := s.doubt, o.previous
	if d == nil || d.back || p.id != s.stream || !p.endedInTime(s.away) || o.stream.initial ||
		d.server != ServerReached || !p.began.After(d.reachedAt) || p.conn != d.reachedConn {
		return
	}
	s.clear(o.now)
	s.noBookmarks, s.pending, s.newer, s.readSoon = true, nil, nil, time.Time{}
}

// opening tells whether the stream cannot owe a bookmark yet: its headers have
// not come, or it is still at its initial events. The end of those moves the
// reflector's resourceVersion; where nothing was written since it was last there,
// it stays, and only the time tells: initial events take about as long as they
// did the first time.
func (s *state) opening(o observation) bool {
	age := o.now.Sub(o.stream.began)
	switch {
	case !o.stream.open:
		return false
	case o.stream.answered.IsZero():
		return age < relistPatience
	}
	return o.stream.initial && o.reflected == s.atStart && age < max(relistPatience, 3*s.syncTook)
}
