// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

// Compact forgets the past: a watch from an RV before that of its kind's watch cache is answered with 410, and so is a
// list at an exact earlier RV, or its next page. Open watches go on.
func (s *Server) Compact() {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	s.cl.store.compact()
	for _, c := range s.cl.caches {
		c.forget()
	}
}

// Snapshot is a backup of everything that the server stores.
type Snapshot struct {
	of    *cluster
	store *store
}

// Snapshot returns a backup of the current state, for Rewind.
func (s *Server) Snapshot() *Snapshot {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	return &Snapshot{of: s.cl, store: s.cl.store.clone()}
}

// Rewind restores a backup, as when etcd is restored and the API server restarted: the global RV and the contents go
// back, every watch ends, and every watch cache starts from there. RVs that clients still hold lie in the future: a
// watch at one is accepted and silent until the global RV has passed it, a read is answered with 504. The backup can be
// restored again. A frozen watch cache stays frozen.
func (s *Server) Rewind(backup *Snapshot) {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	if backup == nil || backup.of != s.cl {
		s.cl.options.Errorf("freshtest: Rewind to what is no snapshot of this server")
		return
	}
	s.cl.store = backup.store.clone()
	for gvr, c := range s.cl.caches {
		c.reset(s.cl.store.rv, s.cl.store.tables[gvr].objects)
		for stream := range c.streams {
			stream.end()
		}
	}
}
