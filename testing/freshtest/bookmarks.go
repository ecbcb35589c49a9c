// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"math/rand/v2"
	"time"
)

// How kube-apiserver times bookmarks: watches are kept in buckets of a second by when their next one is due, and a
// timer that fires every second, jittered by up to a quarter, serves the buckets that have come up. (Read in
// k8s.io/apiserver/pkg/storage/cacher/cacher.go and cache_watcher.go at v0.37.2.)
const (
	bookmarkPeriod = time.Minute
	bookmarkBefore = 2 * time.Second // before the watch's timeout
	bookmarkBucket = time.Second
	bookmarkTick   = time.Second
	bookmarkJitter = 250 * time.Millisecond
)

// bookmarkSchedule says which streams are due for a bookmark.
type bookmarkSchedule struct {
	epoch   time.Time
	next    int64 // the first bucket that has not been served
	buckets map[int64][]*stream
}

func newBookmarkSchedule(now time.Time) *bookmarkSchedule {
	return &bookmarkSchedule{epoch: now, buckets: map[int64][]*stream{}}
}

// begin schedules a new stream. One that begins with initial events is due at the next tick, as in kube-apiserver,
// which there still waits for the bookmark that ends them.
func (b *bookmarkSchedule) begin(s *stream, now time.Time, initialEvents bool) {
	if initialEvents {
		b.put(s, now)
		return
	}
	b.again(s, now)
}

// again schedules the next bookmark of a stream: in a minute, or shortly before its timeout if that comes first. A
// stream past that point has had its last.
func (b *bookmarkSchedule) again(s *stream, now time.Time) {
	at := now.Add(bookmarkPeriod)
	if last := s.deadline.Add(-bookmarkBefore); last.Before(at) {
		at = last
	}
	if !at.Before(now) {
		b.put(s, at)
	}
}

func (b *bookmarkSchedule) put(s *stream, at time.Time) {
	bucket := max(int64(at.Sub(b.epoch)/bookmarkBucket), b.next)
	b.buckets[bucket] = append(b.buckets[bucket], s)
}

// due removes and returns the streams whose buckets have come up.
func (b *bookmarkSchedule) due(now time.Time) []*stream {
	var due []*stream
	for current := int64(now.Sub(b.epoch) / bookmarkBucket); b.next <= current; b.next++ {
		due = append(due, b.buckets[b.next]...)
		delete(b.buckets, b.next)
	}
	return due
}

// runBookmarks serves the schedule until the server stops.
func (cl *cluster) runBookmarks() {
	// A fixed seed: two runs of a test see the same ticks.
	jitter := rand.New(rand.NewPCG(1, 2))
	next := func() time.Duration { return bookmarkTick + time.Duration(jitter.Int64N(int64(bookmarkJitter))) }
	timer := cl.clock.NewTimer(next())
	defer timer.Stop()
	for {
		select {
		case <-timer.C():
			timer.Reset(next())
			cl.tick()
		case <-cl.done:
			return
		}
	}
}

// tick sends the bookmarks that are due, and lets etcd notify the watch caches if that is due.
func (cl *cluster) tick() {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	now := cl.clock.Now()
	if every := cl.options.ProgressNotify; every > 0 && now.Sub(cl.notified) >= every {
		cl.notified = now
		for _, c := range cl.caches {
			c.advance(cl.store.rv)
		}
	}
	for _, s := range cl.bookmarks.due(now) {
		if _, open := s.cache.streams[s]; !open {
			continue
		}
		c := s.cache
		if c.rv > s.after && cl.strike(withholdBookmarks, c.kind.GVR(), s.selector.namespace, "") == nil {
			s.push(bookmark(c.kind, c.rv, false))
		}
		cl.bookmarks.again(s, now)
	}
}
