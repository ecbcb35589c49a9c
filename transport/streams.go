// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// streams holds the lists and watches under way, and sees to it, from one
// goroutine that runs while there are any, that none outlives its deadline.
type streams struct {
	clock  clock.WithTicker
	limits limits

	mu   sync.Mutex
	live map[*stream]struct{}
	stop chan struct{} // ends the sweeper; nil: it does not run
}

func (r *streams) add(s *stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[s] = struct{}{}
	if r.stop == nil {
		r.stop = make(chan struct{})
		go r.run(r.clock.NewTicker(tick), r.clock.Now(), r.stop)
	}
}

func (r *streams) remove(s *stream, why EndReason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := s.conn.Load(); c != nil && s.kind == watch && why == EndedPing {
		c.broke++
	}
	delete(r.live, s)
	if len(r.live) == 0 && r.stop != nil {
		close(r.stop)
		r.stop = nil
	}
}

func (r *streams) run(ticker clock.Ticker, last time.Time, stop <-chan struct{}) {
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C():
		case <-stop:
			return
		}
		now := r.clock.Now()
		for _, s := range r.sweptBy(stop) {
			s.sweep(now, lateness(now.Sub(last)), r.limits)
		}
		last = now
	}
}

// lateness is by how much deadlines move when a look comes late: the process was
// suspended, or got no time to run, and saw nothing of what arrived meanwhile.
func lateness(since time.Duration) time.Duration {
	if since <= 3*tick {
		return 0
	}
	return since - tick
}

// sweptBy returns the streams that the sweeper with that stop channel looks at:
// none, if another has taken its place.
func (r *streams) sweptBy(stop <-chan struct{}) []*stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != stop {
		return nil
	}
	return r.list()
}

func (r *streams) all() []*stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list()
}

// over tells of the lists and watches under way over a connection: how many watches
// there are, with those that have ended because it did not answer a PING, whether there
// is any, and when one of them last brought something, in ns of the wall clock.
func (r *streams) over(c *connection) (watches int, found bool, lastByte int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	watches = c.broke
	for s := range r.live {
		if s.conn.Load() != c {
			continue
		}
		found, lastByte = true, max(lastByte, s.lastByte.Load())
		if s.kind == watch {
			watches++
		}
	}
	return watches, found, lastByte
}

// list wants the lock held.
func (r *streams) list() []*stream {
	out := make([]*stream, 0, len(r.live))
	for s := range r.live {
		out = append(out, s)
	}
	return out
}
