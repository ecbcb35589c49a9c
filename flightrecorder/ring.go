// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"time"
	"unicode/utf8"
)

// Entry is one thing that happened, or the same thing several times in a row.
type Entry struct {
	// Time is when it happened first, and Until when last.
	Time  time.Time `json:"time"`
	Until time.Time `json:"until,omitzero"`
	// Count is how often it has.
	Count int `json:"count"`
	// What happened, in a few words. No contents of objects, no credentials, no queries.
	What string `json:"what"`
}

// ring keeps the newest entries. It grows to its limit, and not beyond.
type ring struct {
	limit   int
	entries []Entry
	next    int // where the oldest is, once the ring is full
}

// add notes what happened, or that it has happened again.
func (r *ring) add(now time.Time, what string) {
	what = cut(what)
	if last := r.last(); last != nil && last.What == what {
		last.Until = now
		last.Count++
		return
	}
	e := Entry{Time: now, Count: 1, What: what}
	if n := len(r.entries); n < r.limit {
		if n == cap(r.entries) { // twice as much, but not beyond the limit
			r.entries = append(make([]Entry, 0, min(max(8, 2*n), r.limit)), r.entries...)
		}
		r.entries = append(r.entries, e)
		return
	}
	r.entries[r.next] = e
	r.next = (r.next + 1) % r.limit
}

func (r *ring) last() *Entry {
	n := len(r.entries)
	if n == 0 {
		return nil
	}
	return &r.entries[(r.next+n-1)%n]
}

// all returns a copy, the oldest first.
func (r *ring) all() []Entry {
	out := make([]Entry, 0, len(r.entries))
	return append(append(out, r.entries[r.next:]...), r.entries[:r.next]...)
}

// cut shortens a text to what an entry may hold, and never within a character.
func cut(s string) string {
	if len(s) <= textLimit {
		return s
	}
	const dots = "..."
	end := textLimit - len(dots)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return string(append([]byte(s[:end]), dots...)) // a copy, so that the rest is not kept
}
