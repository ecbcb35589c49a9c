// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// witness follows what the monitor tells. Right before a proof is when a bound is
// largest, so that nothing has to be asked for in between, which would cost more
// than the monitor does.
type witness struct {
	mu       sync.Mutex
	since    time.Time // when the measurement began; zero: it has not
	freshAs  map[freshness.Informer]time.Time
	bound    time.Duration
	verdicts map[string]int
	cures    int
	proofs   int
}

func newWitness() *witness {
	return &witness{freshAs: map[freshness.Informer]time.Time{}, verdicts: map[string]int{}}
}

func (w *witness) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Now()
}

// see is the monitor's observer.
func (w *witness) see(e freshness.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Type == freshness.Proven {
		if had, ok := w.freshAs[e.Informer]; ok && !w.since.IsZero() {
			w.bound = max(w.bound, e.Time.Sub(had))
		}
		w.freshAs[e.Informer] = e.FreshAsOf
	}
	if w.since.IsZero() {
		return
	}
	switch e.Type {
	case freshness.Proven:
		w.proofs++
	case freshness.VerdictChanged:
		w.verdicts[e.Verdict.String()]++
	case freshness.CureStarted:
		w.cures++
	default:
	}
}

// report adds what was seen, and how all informers are in the end.
func (w *witness) report(f *figures, m *freshness.Monitor) {
	if m == nil {
		return
	}
	final := map[string]int{}
	all := m.Status()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, st := range all {
		final[st.Verdict.String()]++
		w.bound = max(w.bound, st.Staleness)
		f.Renewals += int(st.Renewals)
	}
	f.LargestBound = w.bound.Seconds()
	f.Proven, f.Cures = w.proofs, w.cures
	f.Verdicts, f.VerdictChanges = final, w.verdicts
}
