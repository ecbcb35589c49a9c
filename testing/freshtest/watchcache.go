// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import "maps"

// watchCache models the API server's watch cache of one kind. Its RV moves with the changes of its kind and with
// progress that a read asked for, and stays behind the global one otherwise, as the real one does. The cluster's lock
// guards it.
type watchCache struct {
	kind    Kind
	rv      uint64
	objects objects
	history []change // what a watch can be resumed from, in order
	oldest  uint64   // a watch from before this RV is answered with 410
	streams map[*stream]struct{}
	moved   chan struct{} // closed and replaced when the RV moves

	frozen  int      // how many faults hold it
	backlog []change // what happened while it was frozen
}

func newWatchCache(kind Kind, rv uint64, state objects) *watchCache {
	c := &watchCache{kind: kind, moved: make(chan struct{}), streams: map[*stream]struct{}{}}
	c.reset(rv, state)
	return c
}

// reset starts anew from a list at rv, as a restarted API server does.
func (c *watchCache) reset(rv uint64, state objects) {
	c.objects = maps.Clone(state)
	c.history, c.backlog = nil, nil
	c.rv, c.oldest = rv, rv
	c.wake()
}

// observe receives a change from etcd and reports whether it was applied: a frozen cache keeps it for later.
func (c *watchCache) observe(ch change) bool {
	if c.frozen > 0 {
		c.backlog = append(c.backlog, ch)
		return false
	}
	if ch.obj != nil {
		c.objects[ch.key] = ch.obj
	} else {
		delete(c.objects, ch.key)
	}
	c.history = append(c.history, ch)
	c.advance(ch.rv)
	return true
}

// advance moves the RV to what etcd says it has reached. A frozen cache does not hear it.
func (c *watchCache) advance(rv uint64) {
	if c.frozen == 0 && rv > c.rv {
		c.rv = rv
		c.wake()
	}
}

func (c *watchCache) wake() {
	close(c.moved)
	c.moved = make(chan struct{})
}

// forget drops the history: only watches from now on can be served.
func (c *watchCache) forget() {
	c.history, c.oldest = nil, c.rv
}

// since returns the changes after rv, and false if they are no longer all known.
func (c *watchCache) since(rv uint64) ([]change, bool) {
	if rv < c.oldest {
		return nil, false
	}
	for i, ch := range c.history {
		if ch.rv > rv {
			return c.history[i:], true
		}
	}
	return nil, true
}
