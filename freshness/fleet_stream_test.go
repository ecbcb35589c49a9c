// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"time"

	"github.com/freshwatch/freshwatch/internal/streamctx"
)

// connection leads to one API server.
type connection struct {
	name   string
	server int
}

// message is what a stream brings to the client.
type message struct {
	kind messageKind
	at   time.Duration // at the client
	rv   int64
}

type messageKind int

const (
	headers messageKind = iota
	event
	bookmark
	initialEnd // the bookmark that ends initial events
	ended      // in the ordinary way
	expired    // the server no longer knows the resourceVersion
	aheadOf    // or not yet
	broken     // the connection is lost
)

// watchStream is one watch, on the server's side and on the way to the client.
type watchStream struct {
	id       uint64
	ctx      *streamctx.Context
	conn     connection
	initial  bool
	from     int64         // resourceVersion asked for; 0: everything as of now
	timeout  time.Duration // asked for
	accepted bool          // by the server
	live     bool          // past the initial events
	behind   bool          // the server says that it does not have what was asked for
	over     bool          // on the server's side
	deadline time.Duration // the server ends it then
	silent   time.Duration // nothing sent since then arrives
	farewell bool          // except for its end

	wire   []message
	last   time.Duration // of the newest message, at the client
	newest int64         // resourceVersion sent

	since  time.Duration // on the client's side: when the present phase of the reflector's watch began
	events int           // in it
	synced bool          // the initial events have been taken
}

// send puts a message on the wire of the present stream.
func (l *life) send(t time.Duration, kind messageKind, rv int64) {
	w := l.stream
	if w == nil || w.over {
		return
	}
	if kind >= ended {
		w.over = true
		for _, k := range []timer{tForward, tBookmark, tServerEnd, tInitial, tCut} {
			l.timers[k] = never
		}
	}
	if t >= w.silent && kind != headers && (kind < ended || !w.farewell) {
		return
	}
	w.last = max(w.last, t+l.latency())
	w.newest = max(w.newest, rv)
	w.wire = append(w.wire, message{kind, w.last, rv})
	if len(w.wire) == 1 {
		l.timers[tWire] = w.last
	}
}

// accept has the server take up the watch.
func (l *life) accept(t time.Duration) {
	w, c := l.stream, &l.cluster
	s := c.servers[w.conn.server]
	w.accepted, w.deadline = true, t+w.timeout
	if l.path == cutting {
		l.timers[tCut] = t + l.cutAfter
	}
	l.deafen(t)
	l.timers[tServerEnd] = w.deadline
	l.send(t, headers, 0)
	switch {
	case w.initial && c.noProgress: // and so from the datastore itself
		l.timers[tInitial] = t + l.between(l.listTime/2, l.listTime)
	case w.initial:
		need := w.from
		if need == 0 {
			need = c.revision(t)
		}
		ready := s.reach(t, need, c)
		if ready == never || ready-t > 3*time.Second {
			l.timers[tInitial], w.behind = t+3*time.Second, true
			return
		}
		l.timers[tInitial] = ready + l.between(l.listTime/2, l.listTime)
	case w.from < s.oldest:
		l.send(t, expired, 0)
	default:
		w.live, w.newest = true, w.from
		l.catchUp(t)
		l.planBookmark(t)
	}
}

// endInitial ends the initial events of a stream.
func (l *life) endInitial(t time.Duration) {
	w := l.stream
	if w.behind {
		l.send(t, aheadOf, 0)
		return
	}
	rv := l.cluster.servers[w.conn.server].at(t)
	if l.cluster.noProgress {
		rv = l.cluster.revision(t)
	}
	w.live = true
	l.send(t, initialEnd, rv)
	w.newest = max(w.newest, rv)
	l.catchUp(t)
	l.planBookmark(t)
}

// catchUp sends the events that the server's cache has, and waits for the next.
func (l *life) catchUp(t time.Duration) {
	w := l.stream
	l.timers[tForward] = never
	for _, c := range l.cluster.commits {
		switch on := c.on[w.conn.server]; {
		case c.rv <= w.newest:
		case on > t:
			l.timers[tForward] = on
			return
		default:
			l.send(t, event, c.rv)
		}
	}
}

// planBookmark schedules the next bookmark as kube-apiserver does: in a minute, or 2 s
// before the end; put into buckets of a second; looked at every 1 to 1.25 s.
func (l *life) planBookmark(t time.Duration) {
	w := l.stream
	next := min(t+time.Minute, w.deadline-2*time.Second)
	if next < t || l.path == bookmarkless {
		l.timers[tBookmark] = never
		return
	}
	created := l.cluster.servers[w.conn.server].created
	bucket := created + (next - created).Truncate(time.Second)
	l.timers[tBookmark] = max(bucket, t) + l.between(0, l.between(time.Second, 1250*time.Millisecond))
}

// sendBookmark sends one, if it says anything new.
func (l *life) sendBookmark(t time.Duration) {
	l.catchUp(t)
	w := l.stream
	if rv := l.cluster.servers[w.conn.server].at(t); rv > w.newest {
		l.send(t, bookmark, rv)
	}
	l.planBookmark(t)
}
