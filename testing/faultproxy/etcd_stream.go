// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"sync"
	"time"
)

// EtcdWatch describes one watch of an API server on etcd.
type EtcdWatch struct {
	// Stream numbers the calls through one proxy; watches with the same Stream share a gRPC stream. ID is etcd's.
	Stream uint64
	ID     int64
	// Key that the watch begins at. With kube-apiserver it is /registry/<group>/<resource>/ for custom resources, and
	// /registry/<resource>/ for most that are built in; some of these have names of their own (nodes: minions).
	Key string
	// Events and Progress count what was delivered, Withheld the messages that faults lost, or hold at present.
	Events, Progress, Withheld int
	// Revision is the newest that was delivered.
	Revision int64
}

// etcdWatch is one watch on a stream.
type etcdWatch struct {
	EtcdWatch
	canceling bool
	due       time.Time // of the newest message that is delayed
	lostTo    *etcdRule // the freeze that its newest message was lost to
}

// broken reports whether the watch has lost messages to a freeze that is over. Nothing may follow on this stream, or the
// client would take it that there was nothing in between.
func (w *etcdWatch) broken() bool { return w.lostTo != nil && w.lostTo.inj.over() }

// watchStream is one gRPC call of Watch, with all the watches it carries.
//
// kube-apiserver has an etcd client for each resource, and etcd's client one gRPC stream for each set of metadata: one for
// the watch cache (metadata source=cache), one for watches that bypass it. So as a rule a stream carries one prefix; the
// code does not rely on it. The client sends its create requests one at a time, etcd confirms them in order, and a
// confirmation has the ID: that is how IDs get their keys.
//
// Confirmations always pass, since the client sends the next create request only after the last was confirmed. Answers to
// progress requests are for all watches of a stream (ID -1), and the client believes them for all. Where one watch of a
// stream is frozen or delayed, the answer is split up into one for each watch that is not, or a frozen watch would seem to
// have progressed.
type watchStream struct {
	proxy   *Etcd
	id      uint64
	changed notifier

	mu      sync.Mutex
	pending []string // keys of watches not confirmed yet
	watches map[int64]*etcdWatch
	killed  bool
}

func newWatchStream(p *Etcd, id uint64) *watchStream {
	return &watchStream{proxy: p, id: id, watches: map[int64]*etcdWatch{}}
}

func (s *watchStream) creating(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, key)
}

func (s *watchStream) canceling(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.watches[id]; w != nil {
		w.canceling = true
	}
}

func (s *watchStream) hasWatch(r *etcdRule) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		if r.watches(w.Key) {
			return true
		}
	}
	return false
}

// kill ends the call as if etcd had gone away.
func (s *watchStream) kill() {
	s.mu.Lock()
	s.killed = true
	s.mu.Unlock()
	s.changed.notify()
}

func (s *watchStream) dead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.killed
}

func (s *watchStream) describe() []EtcdWatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]EtcdWatch, 0, len(s.watches))
	for _, w := range s.watches {
		out = append(out, w.EtcdWatch)
	}
	return out
}

// delivery is a message on its way to the client.
type delivery struct {
	raw []byte
	due time.Time
	by  *etcdRule // holds it until it is lifted, if not nil
}

// route decides what becomes of a message from etcd.
func (s *watchStream) route(m *watchResponse, now time.Time) []delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		if w.broken() {
			s.killed = true
			return nil
		}
	}
	pass := []delivery{{raw: m.raw, due: now}}
	if m.created {
		s.confirmLocked(m)
		return pass
	}
	if m.watchID == broadcastID && m.progress() {
		return s.broadcastLocked(m, now)
	}
	w := s.watches[m.watchID]
	if w == nil {
		return pass
	}
	if m.canceled && w.canceling { // the client waits for nothing but this
		delete(s.watches, m.watchID)
		return pass
	}
	raw := m.raw
	if m.events > 0 {
		var lost int
		raw, lost = s.dropLocked(m)
		w.Withheld += min(lost, 1)
		if raw == nil {
			return nil
		}
	}
	return s.sendLocked(w, m, raw, now)
}

func (s *watchStream) confirmLocked(m *watchResponse) {
	if len(s.pending) == 0 {
		return
	}
	key := s.pending[0]
	s.pending = s.pending[1:]
	if !m.canceled {
		s.watches[m.watchID] = &etcdWatch{EtcdWatch: EtcdWatch{Stream: s.id, ID: m.watchID, Key: key, Revision: m.revision}}
	}
}

// broadcastLocked passes progress on to those watches that may have it. It stays one message where these are all.
func (s *watchStream) broadcastLocked(m *watchResponse, now time.Time) []delivery {
	rules := s.proxy.inForce(freeze, detain, slow)
	affected := false
	for _, w := range s.watches {
		affected = affected || w.due.After(now)
		for _, r := range rules {
			affected = affected || r.watches(w.Key)
		}
	}
	if !affected {
		for _, w := range s.watches {
			w.Progress++
			w.Revision = m.revision
		}
		return []delivery{{raw: m.raw, due: now}}
	}
	var out []delivery
	for id, w := range s.watches {
		out = append(out, s.sendLocked(w, m, m.progressFor(id), now)...)
	}
	return out
}

// dropLocked takes events out of a message.
func (s *watchStream) dropLocked(m *watchResponse) ([]byte, int) {
	rules := s.proxy.inForce(drop)
	if len(rules) == 0 {
		return m.raw, 0
	}
	return m.withoutEvents(func(key string) bool {
		for _, r := range rules {
			if r.watches(key) && s.proxy.spend(r) {
				r.inj.hit()
				return true
			}
		}
		return false
	})
}

// sendLocked sends a message to one watch, as far and as fast as the faults allow.
func (s *watchStream) sendLocked(w *etcdWatch, m *watchResponse, raw []byte, now time.Time) []delivery {
	d := delivery{raw: raw, due: now}
	for _, r := range s.proxy.inForce(freeze, detain, slow) {
		if !r.watches(w.Key) {
			continue
		}
		r.inj.hit()
		switch r.fault {
		case freeze:
			w.Withheld++
			w.lostTo = r
			return nil
		case detain:
			w.Withheld++
			if m.progress() { // there will be a newer one
				return nil
			}
			d.by = r
		default:
			d.due = d.due.Add(r.delay)
		}
	}
	if d.due.Before(w.due) { // no message overtakes another of its watch
		d.due = w.due
	}
	w.due = d.due
	if m.progress() {
		w.Progress++
	}
	w.Events += m.events
	w.Revision = m.revision
	if m.canceled && d.by == nil {
		delete(s.watches, m.watchID)
	}
	return []delivery{d}
}
