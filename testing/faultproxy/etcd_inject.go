// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"slices"
	"strings"
	"time"
)

// etcdFault is what a rule of the etcd proxy does.
type etcdFault int

const (
	freeze etcdFault = iota // lose all messages
	detain                  // keep all messages for later
	drop                    // lose events
	slow                    // delay all messages
)

// etcdRule is an injection of the etcd proxy.
type etcdRule struct {
	inj    *Injection
	fault  etcdFault
	prefix string
	delay  time.Duration
	n      int // events still to drop; negative: all. Guarded by the proxy's mutex.
}

// watches reports whether the rule is about a watch on this key.
func (r *etcdRule) watches(key string) bool { return strings.HasPrefix(key, r.prefix) }

// FreezeWatches withholds every message, events and progress notifications, of the watches whose key begins with prefix:
// "/registry/configmaps/", "/registry/example.com/widgets/", or "" for all. A prefix for one kind ends with a slash, or
// "/registry/pods" takes the pod templates along. Watches lists the keys there are. The API server's watch cache for these kinds
// freezes, while reads and writes work. Watches created in the meantime are confirmed and then frozen, too; other watches
// are not touched, not even those on the same gRPC stream.
//
// What is withheld is lost. Lifting ends the gRPC streams that carry frozen watches with the status UNAVAILABLE, as a
// restart of the datastore does: etcd's client opens new ones and asks for everything since the last revision it saw, so
// that the watch cache recovers. HoldWatches has a gentler end. Hits counts messages withheld.
//
// A watch on a range wider than the prefix (its key is shorter) is not frozen; kube-apiserver has none.
func (p *Etcd) FreezeWatches(prefix string) *Injection {
	return p.inject("FreezeWatches", &etcdRule{fault: freeze, prefix: prefix}, prefix)
}

// HoldWatches is FreezeWatches with another end: the messages are kept, and delivered in order when it is lifted, as after
// a network that was gone for a while. They are kept in memory without bound.
func (p *Etcd) HoldWatches(prefix string) *Injection {
	return p.inject("HoldWatches", &etcdRule{fault: detain, prefix: prefix}, prefix)
}

// DropEvents loses the next n events (0 or less: all) on keys that begin with prefix, and lets progress notifications
// through: the watch cache moves on, past events it never saw. The prefix may be the key of a single object. Lifting does
// not bring events back. Hits counts events.
func (p *Etcd) DropEvents(prefix string, n int) *Injection {
	if n <= 0 {
		n = -1
	}
	return p.inject("DropEvents", &etcdRule{fault: drop, prefix: prefix, n: n}, prefix)
}

// Delay makes the messages of the watches whose key begins with prefix arrive d later: a watch cache that lags behind, and
// moves. Messages under way when it is lifted keep their delay. Hits counts messages.
func (p *Etcd) Delay(prefix string, d time.Duration) *Injection {
	return p.inject("Delay", &etcdRule{fault: slow, prefix: prefix, delay: d}, prefix+" by "+d.String())
}

func (p *Etcd) inject(name string, r *etcdRule, target string) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.prefix == "" {
		target = "all keys" + target
	}
	r.inj = p.journal.inject(name, target, func() { p.withdraw(r) })
	p.rules = append(p.rules, r)
	return r.inj
}

func (p *Etcd) withdraw(r *etcdRule) {
	p.mu.Lock()
	p.rules = without(p.rules, r)
	p.mu.Unlock()
	for _, s := range p.snapshot() {
		if r.fault == freeze && s.hasWatch(r) {
			s.kill()
		}
		s.changed.notify()
	}
}

// inForce returns the rules with one of these faults, oldest first.
func (p *Etcd) inForce(faults ...etcdFault) []*etcdRule {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*etcdRule
	for _, r := range p.rules {
		if slices.Contains(faults, r.fault) {
			out = append(out, r)
		}
	}
	return out
}

// spend takes one of the events that a rule may drop, and reports whether there was one left.
func (p *Etcd) spend(r *etcdRule) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.n == 0 {
		return false
	}
	if r.n > 0 {
		r.n--
	}
	return true
}

// Watches lists the watches that are open, ordered by stream and ID.
func (p *Etcd) Watches() []EtcdWatch {
	var out []EtcdWatch
	for _, s := range p.snapshot() {
		out = append(out, s.describe()...)
	}
	slices.SortFunc(out, func(a, b EtcdWatch) int {
		if a.Stream != b.Stream {
			return int(a.Stream) - int(b.Stream)
		}
		return int(a.ID) - int(b.ID)
	})
	return out
}

// snapshot returns the open streams. A stream's lock is taken before the proxy's, never after.
func (p *Etcd) snapshot() []*watchStream {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*watchStream, 0, len(p.streams))
	for s := range p.streams {
		out = append(out, s)
	}
	return out
}
