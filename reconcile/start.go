// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// awaitStart waits until every kind is proven for the moment of the first
// reconcile, but not for longer than startWait. Reconciles that wait at the same time
// share the proofs. It tells whether ctx was cancelled meanwhile. The caller holds
// the lock, which awaitStart gives up while it waits.
func (g *gate) awaitStart(ctx context.Context) (cancelled bool) {
	if g.start.IsZero() {
		g.start = g.opts.Clock.Now()
		for i := range g.kinds {
			g.kinds[i].unproven = true
		}
	}
	asked, age := g.unproven(), g.opts.Clock.Since(g.start)
	g.mu.Unlock()
	errs := g.prove(ctx, asked, age)
	g.mu.Lock()
	if errors.Is(ctx.Err(), context.Canceled) {
		return true
	}
	for i := range g.kinds {
		k := &g.kinds[i]
		if err, found := errs[k.of]; found && k.unproven {
			k.unproven = err != nil && (g.opts.CloseUnmonitored || !errors.Is(err, freshness.ErrNotMonitored))
			if k.unproven {
				k.reason = err.Error()
			}
		}
	}
	g.starting, g.looked = len(g.unproven()) > 0, time.Time{}
	return false
}

// unproven lists the kinds that are not proven for the start. The caller holds the
// lock.
func (g *gate) unproven() []freshness.Informer {
	var out []freshness.Informer
	for i := range g.kinds {
		if g.kinds[i].unproven {
			out = append(out, g.kinds[i].of)
		}
	}
	return out
}

// prove asks for proofs that are at most age old, all at once, and returns what
// came of it.
func (g *gate) prove(ctx context.Context, kinds []freshness.Informer, age time.Duration) map[freshness.Informer]error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	errs := make([]error, len(kinds))
	var wg sync.WaitGroup
	for i, of := range kinds {
		wg.Go(func() { errs[i] = g.monitor.EnsureFresh(ctx, of, age) })
	}
	wg.Wait()
	out := map[freshness.Informer]error{}
	for i, of := range kinds {
		out[of] = errs[i]
	}
	return out
}

// giveUpStart lets reconciles begin without a proof. The caller holds the lock.
func (g *gate) giveUpStart() {
	for i := range g.kinds {
		g.kinds[i].unproven = false
	}
	g.starting = false
}
