// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"sync"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// gate is a Gate without the type of its requests.
type gate struct {
	opts    GateOptions
	monitor monitor
	descs   descs

	mu        sync.Mutex
	kinds     []kind
	looked    time.Time // when the monitor was last asked; zero: ask now
	starting  bool      // not every kind is proven for the start
	start     time.Time // of the first reconcile; zero: none yet, or no matter
	hold      hold
	requeues  uint64
	overrides uint64
}

func newGate(m monitor, kinds []freshness.Informer, opts GateOptions) (*gate, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := checkKinds(kinds); err != nil {
		return nil, err
	}
	g := &gate{opts: opts, monitor: m, descs: newDescs(opts.Name), kinds: make([]kind, len(kinds)), starting: opts.AtStart}
	now := opts.Clock.Now()
	for i, of := range kinds {
		g.kinds[i] = kind{of: of, missing: now}
	}
	return g, nil
}

// look brings the gate up to date, unless that was done a moment ago. The caller
// holds the lock.
func (g *gate) look(now time.Time) {
	if !g.looked.IsZero() && now.Sub(g.looked) < lookEvery {
		return
	}
	g.looked = now
	closed := false
	for i := range g.kinds {
		k := &g.kinds[i]
		st, found := g.monitor.StatusOf(k.of)
		k.judge(st, found, g.opts)
		g.sayIfUnmonitored(k, now)
		closed = closed || k.closes()
	}
	before := g.hold
	g.hold = before.next(now, closed, g.opts.MaxHold)
	if g.hold.over {
		g.giveUpStart()
	}
	g.say(before, now)
}
