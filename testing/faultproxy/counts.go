// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"sync"
	"sync/atomic"
)

// Counts is what a selection of requests has cost so far.
type Counts struct {
	// Requests that began, and those of them that are Open.
	Requests, Open int64
	// Responses that ended, by HTTP status; 0 is for those that never got one.
	Responses map[int]int64
	// BytesUp and BytesDown count uncompressed bodies.
	BytesUp, BytesDown int64
	// ListObjects are the items in list bodies, InitialObjects the objects sent at the start of WatchLists.
	ListObjects, InitialObjects int64
	// Events are watch events other than initial objects and Bookmarks.
	Events, Bookmarks int64
}

// Relisted returns the objects that were sent to fill a cache, by list or by WatchList.
func (c Counts) Relisted() int64 { return c.ListObjects + c.InitialObjects }

// seriesLimit bounds the number of series: a few MB.
const seriesLimit = 10_000

// seriesKey is what the counters are kept by.
type seriesKey struct {
	verb, group, resource, subresource string
	namespace, name, path              string
	user, userAgent                    string
	initial                            bool
}

func keyOf(a *attributes) seriesKey {
	return seriesKey{
		verb: a.verb, group: a.group, resource: a.resource, subresource: a.subresource,
		namespace: a.namespace, name: a.name, path: a.path, user: a.user, userAgent: a.userAgent,
		initial: a.query.sendInitialEvents,
	}
}

func (k seriesKey) attributes() attributes {
	return attributes{
		verb: k.verb, group: k.group, resource: k.resource, subresource: k.subresource,
		namespace: k.namespace, name: k.name, path: k.path, user: k.user, userAgent: k.userAgent,
		query: listQuery{sendInitialEvents: k.initial},
	}
}

// series holds the counters of one kind of request.
type series struct {
	attributes attributes

	requests, open    atomic.Int64
	up, down          atomic.Int64
	objects, initial  atomic.Int64
	events, bookmarks atomic.Int64
	mu                sync.Mutex
	responses         map[int]int64
}

func (s *series) countStatus(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.responses == nil {
		s.responses = map[int]int64{}
	}
	s.responses[code]++
}

func (s *series) addTo(c *Counts) {
	c.Requests += s.requests.Load()
	c.Open += s.open.Load()
	c.BytesUp += s.up.Load()
	c.BytesDown += s.down.Load()
	c.ListObjects += s.objects.Load()
	c.InitialObjects += s.initial.Load()
	c.Events += s.events.Load()
	c.Bookmarks += s.bookmarks.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	for code, n := range s.responses {
		if c.Responses == nil {
			c.Responses = map[int]int64{}
		}
		c.Responses[code] += n
	}
}
