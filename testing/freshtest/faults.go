// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Stall silences the watches of a kind that are open now: they deliver nothing any more, neither events nor bookmarks
// nor their end, but stay open, on a connection that lives and answers PINGs. Watches opened later work. With
// namespaces, only watches of exactly those namespaces are silenced. Lifted, it delivers what was held back.
//
// Write, or Bump, afterwards: as long as nothing happens, an informer misses nothing and is fresh.
func (s *Server) Stall(gvr schema.GroupVersionResource, namespaces ...string) *Fault {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	f := s.cl.inflict(&Fault{kind: stallOpen, gvr: gvr, namespaces: namespaces, left: -1})
	for _, c := range s.cl.caches {
		for stream := range c.streams {
			if f.matches(c.kind.GVR(), stream.selector.namespace, "") {
				f.hits++
				f.silence(stream)
			}
		}
	}
	return f
}

// StallNew silences the watches of a kind that are opened from now on: they are accepted, and deliver nothing. Open
// ones go on. With namespaces, only watches of exactly those namespaces are silenced. Lifted, it delivers what was held
// back.
func (s *Server) StallNew(gvr schema.GroupVersionResource, namespaces ...string) *Fault {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	return s.cl.inflict(&Fault{kind: stallNew, gvr: gvr, namespaces: namespaces, left: -1})
}

// silence keeps a stream silent until the fault is lifted. The caller holds the lock.
func (f *Fault) silence(s *stream) {
	s.stalls++
	before := f.lift
	f.lift = func() {
		if before != nil {
			before()
		}
		s.stalls--
		s.wake()
	}
}

// FreezeWatchCache stops the watch cache of a kind, as when etcd's watch for it dies: its RV and contents stay where
// they are, bookmarks repeat that RV, and a consistent LIST waits Options.FreshWait and is then answered from etcd (or
// with 429, see Options.RejectStaleLists). Reads at a newer RV are answered with 504 "Too large resource version",
// watches at one are accepted and silent. Lifted, the cache catches up.
func (s *Server) FreezeWatchCache(gvr schema.GroupVersionResource) *Fault {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	f := s.cl.inflict(&Fault{kind: freezeCache, gvr: gvr, left: -1})
	var frozen []*watchCache
	for _, c := range s.cl.caches {
		if f.matches(c.kind.GVR(), "", "") {
			c.frozen++
			frozen = append(frozen, c)
		}
	}
	f.lift = func() {
		for _, c := range frozen {
			s.cl.thaw(c)
		}
	}
	return f
}

// DropEvents loses the next n changes of a kind on their way to the watches: no open watch delivers them, though later
// events and bookmarks come as ever, and reads show them.
func (s *Server) DropEvents(gvr schema.GroupVersionResource, n int) *Fault {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	return s.cl.inflict(&Fault{kind: dropEvents, gvr: gvr, left: max(n, 0)})
}

// WithholdBookmarks keeps back the bookmarks of a kind, as some proxies and servers do. The one that ends the initial
// events of a watch still comes.
func (s *Server) WithholdBookmarks(gvr schema.GroupVersionResource) *Fault {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	return s.cl.inflict(&Fault{kind: withholdBookmarks, gvr: gvr, left: -1})
}

// WithholdInitialEventsEnd keeps back the bookmark that ends the initial events of watches opened from now on: their
// objects come, and the client waits. Lifting it does not help a watch that already waits.
func (s *Server) WithholdInitialEventsEnd(gvr schema.GroupVersionResource) *Fault {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	return s.cl.inflict(&Fault{kind: withholdInitialEnd, gvr: gvr, left: -1})
}

// Respond answers the next requests for a kind and a verb (see Request.Verb) with an HTTP status code from 400 to 599,
// and a Status that fits it; 429 asks to retry after a second. An empty gvr stands for every request, an empty verb for
// every verb, and times below 1 for until lifted. Open watches go on.
//
// For a watch, 410 comes as an event in the stream, as from kube-apiserver; other codes come as they are.
func (s *Server) Respond(gvr schema.GroupVersionResource, verb string, code, times int) *Fault {
	if code < 400 || code > 599 {
		s.cl.options.Errorf("freshtest: Respond with code %d, but must be from 400 to 599", code)
		code = 500
	}
	if times < 1 {
		times = -1
	}
	f := &Fault{kind: respond, gvr: gvr, code: code, left: times}
	if verb != "" {
		f.verbs = []string{verb}
	}
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	return s.cl.inflict(f)
}

// Deny revokes the permission for a kind and the given verbs, or all verbs if there are none: requests are answered
// with 403, and SelfSubjectAccessReviews say no. Open watches go on, as on kube-apiserver.
func (s *Server) Deny(gvr schema.GroupVersionResource, verbs ...string) *Fault {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	return s.cl.inflict(&Fault{kind: deny, gvr: gvr, verbs: verbs, left: -1})
}

// Refuse refuses new connections. Open ones go on.
func (s *Server) Refuse() *Fault {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	return s.cl.inflict(&Fault{kind: refuse, left: -1, lift: s.listener.Refuse()})
}

// BlackHole lets no byte through any more on the connections that are open now, in either direction, and tells neither
// side: what a firewall does that has forgotten a flow. New connections work.
func (s *Server) BlackHole() *Fault {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	held, lift := s.listener.BlackHole()
	return s.cl.inflict(&Fault{kind: blackHole, left: -1, hits: held, lift: lift})
}

// DropConnections resets every open connection.
func (s *Server) DropConnections() { s.listener.Reset() }

// EndWatches ends the open watches of a kind as their timeout would: without an error.
func (s *Server) EndWatches(gvr schema.GroupVersionResource) {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	for _, c := range s.cl.caches {
		if gvr.Empty() || gvr == c.kind.GVR() {
			for stream := range c.streams {
				stream.end()
			}
		}
	}
}
