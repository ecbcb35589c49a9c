// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// commit is a change of an object of the informer's kind.
type commit struct {
	rv int64
	at time.Duration
	on [3]time.Duration // when each API server's watch cache has it
}

// cluster is the datastore, and the API servers in front of it as far as one kind is
// concerned. A resourceVersion is the time of its write in microseconds.
type cluster struct {
	dice
	servers    []*watchCache
	commits    []commit      // that the informer may not hold yet, in order
	last       int64         // the newest commit of the kind
	others     time.Duration // somebody writes something else this often
	still      time.Duration // since when nobody does; never: they do
	noProgress bool          // the datastore does not tell how far a watch is
	refuses    bool          // a consistent list that takes too long gets a 429
	floor      int64         // of revisions, where still began
}

func versionAt(t time.Duration) int64 { return 1_000_000 + int64(t/time.Microsecond) }

// revision is the datastore's at t.
func (c *cluster) revision(t time.Duration) int64 {
	t = min(t, c.still)
	return max(versionAt(t.Truncate(c.others)), c.last, c.floor)
}

// writtenAfter is when something is written after t, as far as is known.
func (c *cluster) writtenAfter(t time.Duration) time.Duration {
	if c.still != never {
		return never
	}
	return t.Truncate(c.others) + c.others
}

// hold has the others stop writing, or go on.
func (c *cluster) hold(t time.Duration, still bool) {
	if still {
		c.still = min(c.still, t)
		return
	}
	c.floor, c.still = c.revision(t), never
}

// commit writes an object of the kind.
func (c *cluster) commit(t time.Duration) commit {
	c.last = max(versionAt(t), c.revision(t)+1)
	n := commit{rv: c.last, at: t}
	for i, s := range c.servers {
		n.on[i] = s.take(t, c.last, c)
	}
	c.commits = append(c.commits, n)
	return n
}

// forget drops the commits that a store with everything up to rv holds.
func (c *cluster) forget(rv int64) {
	for len(c.commits) > 0 && c.commits[0].rv <= rv {
		c.commits = c.commits[1:]
	}
}

// alive picks an API server that takes connections, or -1.
func (c *cluster) alive() int {
	n := c.IntN(len(c.servers))
	for i := range c.servers {
		if j := (n + i) % len(c.servers); !c.servers[j].down {
			return j
		}
	}
	return -1
}

// watchCache is one API server's cache of the kind.
type watchCache struct {
	down        bool
	downUntil   time.Duration
	created     time.Duration // where its seconds begin
	oldest      int64         // a watch from before that is answered with "expired"
	lag         time.Duration // behind the datastore
	frozenUntil time.Duration // gets nothing from the datastore before

	rv    int64
	queue []arrival // to come
	last  time.Duration
}

// arrival is a resourceVersion that reaches the cache, with an event or without.
type arrival struct {
	rv int64
	at time.Duration
}

// take has rv, written or asked about at t, arrive when its turn comes.
func (w *watchCache) take(t time.Duration, rv int64, d *cluster) time.Duration {
	at := t + w.lag + d.between(0, w.lag/4+time.Millisecond)
	if at < w.frozenUntil {
		at = w.frozenUntil + d.between(0, 500*time.Millisecond)
	}
	if w.down && at < w.downUntil {
		at = w.downUntil
	}
	w.last = max(w.last, at)
	w.queue = append(w.queue, arrival{rv, w.last})
	return w.last
}

// at is the cache's resourceVersion at t.
func (w *watchCache) at(t time.Duration) int64 {
	for len(w.queue) > 0 && w.queue[0].at <= t {
		w.rv = max(w.rv, w.queue[0].rv)
		w.queue = w.queue[1:]
	}
	return w.rv
}

// reach is when the cache will be at rv. It asks the datastore for progress where
// that is needed, as a list or a watch that waits for rv does.
func (w *watchCache) reach(t time.Duration, rv int64, d *cluster) time.Duration {
	if w.at(t) >= rv {
		return t
	}
	for _, a := range w.queue {
		if a.rv >= rv {
			return a.at
		}
	}
	if d.noProgress {
		return never
	}
	return w.take(t+d.between(0, 100*time.Millisecond), max(rv, d.revision(t)), d)
}

// restart empties the cache. When it is back it holds what is there then.
func (w *watchCache) restart(t, until time.Duration) {
	w.down, w.downUntil = true, until
	for i := range w.queue {
		w.queue[i].at = max(w.queue[i].at, until)
	}
	w.last = max(w.last, until)
}

// thaw has a frozen server go on.
func (c *cluster) thaw(j int, t time.Duration) {
	w := c.servers[j]
	w.frozenUntil, w.last = 0, t
	for i := range w.queue {
		w.queue[i].at = min(w.queue[i].at, t)
	}
	for i := range c.commits {
		c.commits[i].on[j] = min(c.commits[i].on[j], t)
	}
}

// back ends the restart of a server: it has read everything anew.
func (c *cluster) back(j int, t time.Duration) {
	w := c.servers[j]
	w.down, w.created = false, t-c.between(0, time.Second)
	w.queue, w.last = nil, t
	w.rv = max(w.rv, c.revision(t))
	w.oldest = w.rv
	for i := range c.commits {
		c.commits[i].on[j] = min(c.commits[i].on[j], t)
	}
}
