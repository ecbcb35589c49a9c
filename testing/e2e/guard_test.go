// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// guard is a running monitor and all that it has told.
type guard struct {
	*freshness.Monitor

	mu        sync.Mutex
	events    []freshness.Event
	unhealthy error         // what Check first objected to
	starved   time.Duration // the longest that this process was kept waiting
}

// startGuard runs a monitor until the end of the test. Its liveness check fails
// as early as options can make it, so that one which should not fail has every
// opportunity.
func startGuard(t testing.TB, opts freshness.Options) *guard {
	t.Helper()
	g := &guard{}
	opts.FailAfter = freshness.DefaultMaxStaleness
	opts.Observer = func(e freshness.Event) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.events = append(g.events, e)
	}
	var err error
	if g.Monitor, err = freshness.New(opts); err != nil {
		t.Fatal(err)
	}
	untilEnd(t, func(ctx context.Context) {
		if err := g.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	untilEnd(t, g.watchOver)
	return g
}

// watchOver does what a kubelet does, and notes how late it is.
func (g *guard) watchOver(ctx context.Context) {
	last := time.Now()
	poll.Until(ctx, time.Hour, func() bool {
		err := g.Check(nil)
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.unhealthy == nil {
			g.unhealthy = err
		}
		g.starved = max(g.starved, time.Since(last))
		last = time.Now()
		return false
	})
}

// slowness says why proofs may have missed the bookmarks that they were timed
// for: "" if nothing was slow.
func (g *guard) slowness(slowestProof time.Duration) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case slowestProof > 300*time.Millisecond:
		return fmt.Sprintf("a proof took %v", slowestProof)
	case g.starved > 500*time.Millisecond:
		return fmt.Sprintf("this process did not run for %v", g.starved)
	default:
		return ""
	}
}

// renewed counts the watches that were ended, to cure a stall or to have a proof in
// time.
func (g *guard) renewed() int {
	n := len(g.history(everyInformer).cures(freshness.CureStarted))
	for _, s := range g.Status() {
		n += int(s.Renewals)
	}
	return n
}

// untilEnd runs f until the end of the test and waits for it.
func untilEnd(t testing.TB, f func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() { f(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
}

// liveness returns what Check first objected to.
func (g *guard) liveness() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unhealthy
}

// history returns the events of the informers that are to be looked at, so far.
func (g *guard) history(of func(freshness.Informer) bool) history {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.events), func(e freshness.Event) bool { return !of(e.Informer) })
}

func everyInformer(freshness.Informer) bool { return true }
