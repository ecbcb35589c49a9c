// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// reconnectGap is for how long new connections have to do for every informer: one
// whose stream no connection helps must not cost the others theirs again and again.
const reconnectGap = 10 * time.Minute

// crowd tells whether most informers, and at least three, are stalled.
func (m *Monitor) crowd() bool {
	stalled := 0
	for _, t := range m.informers {
		if t.verdict == Stalled {
			stalled++
		}
	}
	return stalled >= 3 && 2*stalled > len(m.informers)
}

// reconnect asks for new connections, unless that was done for another informer
// within gap. The caller holds the lock.
func (m *Monitor) reconnect(gap time.Duration) {
	now := m.clock.Now()
	if !m.reconnected.IsZero() && now.Sub(m.reconnected) < gap {
		return
	}
	m.reconnected = now
	m.reads.Go(func() { m.opts.Connections.Recycle() })
}
