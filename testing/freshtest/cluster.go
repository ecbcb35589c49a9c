// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// cluster is the state behind the server: etcd, a watch cache per kind, the open watches and the faults in force. One
// lock guards it all, so that every request sees one instant.
type cluster struct {
	options Options
	clock   clock.WithTicker
	done    chan struct{} // closed when the server stops

	mu        sync.Mutex
	store     *store
	caches    map[schema.GroupVersionResource]*watchCache
	bookmarks *bookmarkSchedule
	notified  time.Time // when etcd last notified the watch caches unasked
	faults    []*Fault  // in force, oldest first
}

func newCluster(o Options) *cluster {
	cl := &cluster{
		options:   o,
		clock:     o.Clock,
		done:      make(chan struct{}),
		store:     newStore(o.Kinds),
		caches:    map[schema.GroupVersionResource]*watchCache{},
		bookmarks: newBookmarkSchedule(o.Clock.Now()),
		notified:  o.Clock.Now(),
	}
	for _, k := range o.Kinds {
		cl.caches[k.GVR()] = newWatchCache(k, cl.store.rv, objects{})
	}
	return cl
}

// publish brings a change from etcd to the watch cache, and from there to the streams. The caller holds the lock.
func (cl *cluster) publish(c *watchCache, ch change) {
	if !c.observe(ch) {
		return
	}
	if cl.strike(dropEvents, c.kind.GVR(), ch.key.namespace, "") != nil {
		return
	}
	for s := range c.streams {
		s.offer(ch)
	}
}

// thaw lets a frozen watch cache hear again what it missed. The caller holds the lock.
func (cl *cluster) thaw(c *watchCache) {
	c.frozen--
	if c.frozen > 0 {
		return
	}
	missed := c.backlog
	c.backlog = nil
	for _, ch := range missed {
		cl.publish(c, ch)
	}
}
