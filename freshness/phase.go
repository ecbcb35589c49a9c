// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// How kube-apiserver times the bookmarks of one watch (apiserver 0.37,
// pkg/storage/cacher: watcherBookmarkTimeBuckets, nextBookmarkTime,
// dispatchEvents): 60 s after the last one, put into buckets of one second and
// looked at every 1 to 1.25 s, and once 2 s before the watch's own time-out.
const (
	bookmarkEarliest  = 59 * time.Second
	bookmarkLatest    = 61250 * time.Millisecond
	pretimeoutBefore  = 3 * time.Second
	pretimeoutAtLast  = 750 * time.Millisecond
	unknownPhaseWidth = bookmarkLatest
)

// window is a span of time within which something happens once.
type window struct{ from, to time.Time }

func (w window) width() time.Duration { return w.to.Sub(w.from) }

// phase predicts when the API server sends the next bookmark on a stream, by
// interval arithmetic: it never claims to know more than what it saw, so a
// prediction may be wide but is not wrong.
type phase struct {
	last     window // when the last bookmark was sent, or the stream began
	seen     window // the bookmark, inside the next window
	deadline window // when the server ends the stream; zero: unknown
}

// newPhase is the phase of a stream that began within began and whose server
// ends it within deadline.
func newPhase(began, deadline window) phase {
	return phase{last: began, deadline: deadline}
}

// unknownPhase is that of a stream of which only this is known, that it is there.
func unknownPhase(now time.Time) phase {
	return newPhase(window{now.Add(-unknownPhaseWidth), now}, window{})
}

// next returns the window of the next bookmark.
func (p phase) next() window {
	w := window{p.last.from.Add(bookmarkEarliest), p.last.to.Add(bookmarkLatest)}
	if p.deadline == (window{}) {
		return w
	}
	if t := p.deadline.from.Add(-pretimeoutBefore); t.Before(w.from) {
		w.from = t
	}
	if t := p.deadline.to.Add(-pretimeoutAtLast); t.Before(w.to) {
		w.to = t
	}
	return w
}

// observe notes that a bookmark came somewhere between from and to. It must not be
// an event: where nothing else is new, the bookmark that follows it moves no
// resourceVersion and is not seen, and the window would drift away from where
// bookmarks are.
func (p phase) observe(from, to time.Time) phase {
	n := p.next()
	if to.Before(n.from) || from.After(n.to) {
		return p
	}
	if from.Before(n.from) {
		from = n.from
	}
	if p.seen == (window{}) {
		p.seen.from = from
	}
	p.seen.to = to
	return p
}

// roll moves past the windows that have closed by now and tells whether any
// has.
func (p phase) roll(now time.Time) (phase, bool) {
	rolled := false
	for n := p.next(); now.After(n.to); n = p.next() {
		rolled = true
		if p.deadline != (window{}) && n.to.Equal(p.deadline.to.Add(-pretimeoutAtLast)) {
			p.deadline = window{} // the last bookmark of this stream
		}
		p.last = n
		if p.seen != (window{}) {
			p.last = p.seen
		}
		p.seen = window{}
		if p.last.width() > unknownPhaseWidth {
			p.last = window{p.last.to.Add(-unknownPhaseWidth), p.last.to}
		}
	}
	return p, rolled
}
