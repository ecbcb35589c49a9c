// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// outcome is what came of a scenario. Durations count from the fault; negative
// means never.
type outcome struct {
	history history // of the guarded informer

	fault     time.Time // or when the quiet began
	edited    bool
	detected  time.Duration // the verdict changed, or a cure began
	seen      time.Duration // the edit is in the guarded cache
	fresh     time.Duration // and that is proven
	stockSeen time.Duration // the edit is in the stock informer's cache
	lifted    time.Duration // the fault was
	waited    time.Duration // the end

	requests    int64         // by the guarded informer until it was fresh
	refilled    int64         // objects it was sent anew until the end
	provenEvery time.Duration // the longest time between two proofs
	slow        string        // why proofs may have missed their bookmarks
	liveness    error         // what Check objected to
	contents    error         // how the guarded cache differs in the end
}

// run is a scenario under way.
type run struct {
	scenario
	*program
	t testing.TB
	b backend

	limit       time.Duration // for the guard to notice or heal
	out         outcome
	requestsHad int64
	refilledHad int64
}

// run plays the scenario, with some cures disabled, and tells what came of it.
// limit is how long the guard is given. The test fails only where the stage is at
// fault, not the guard.
func (s scenario) run(t testing.TB, b backend, limit time.Duration, disabled ...freshness.Rung) outcome {
	t.Helper()
	r := &run{scenario: s, t: t, b: b, limit: limit, out: outcome{detected: -1, seen: -1, fresh: -1, stockSeen: -1, lifted: -1}}
	for i := range population {
		if !s.quiet {
			b.put(t, fmt.Sprintf("object-%d", i), before)
		}
	}
	opts := s.options
	opts.DisabledCures = disabled
	var lift func()
	if s.early {
		lift = r.strike()
		r.program = startProgram(t, b, s.kind, opts, s.client)
	} else {
		r.program = startProgram(t, b, s.kind, opts, s.client)
		r.warmUp()
		lift = r.strike()
	}
	r.play(lift)
	return r.finish()
}

// warmUp waits until the guard has known a whole bookmark period, and both
// informers hold what the server holds.
func (r *run) warmUp() {
	r.t.Helper()
	proofs := 2 // the initial list, and a bookmark
	if r.fault == nil {
		proofs = 1
	}
	r.await("proven fresh, or found not to be provable", func() bool {
		h := r.all()
		if r.want.unproven {
			return r.stock.HasSynced() && h.verdict() == freshness.Blind
		}
		return r.stock.HasSynced() && h.verdict() == freshness.Fresh && h.count(freshness.Proven) >= proofs
	})
	if r.prepare != nil {
		r.prepare(r.b, r.t)
	}
	want := contents(r.t, r.b, r.kind)
	r.await("up to date", func() bool { return differs(r.guarded, want) == nil && differs(r.stock, want) == nil })
}

func (r *run) await(what string, cond func() bool) {
	r.t.Helper()
	if !poll.Until(r.t.Context(), patience, cond) {
		r.t.Fatalf("not within %v: %s; history:\n%v", patience, what, r.all())
	}
}

// all is the guarded informer's history so far.
func (r *run) all() history { return r.history(everyInformer) }

// strike makes the fault, and the edit that it hides.
func (r *run) strike() (lift func()) {
	r.t.Helper()
	if !r.early {
		r.requestsHad, r.refilledHad = r.b.requests(guardedAgent), r.b.refilled(guardedAgent)
	}
	if r.fault == nil {
		r.out.fault = time.Now()
		return nil
	}
	lift = r.fault(r.b, r.t)
	r.out.fault = time.Now()
	r.b.put(r.t, edited, after)
	r.out.edited = true
	return lift
}

// play follows the informers to the end of the scenario.
func (r *run) play(lift func()) {
	r.t.Helper()
	never := func() bool { return false }
	switch {
	case r.fault == nil:
		r.follow(r.hold, never)
		return
	case r.hold == 0:
		r.follow(r.limit, r.healed)
	default:
		if r.untilNamed {
			r.follow(r.limit, func() bool { return slices.Contains(r.after().verdicts(), r.want.reaches[0]) })
		}
		r.follow(r.hold, never)
		r.out.lifted = time.Since(r.out.fault)
		lift()
		r.follow(recovery, r.healed)
	}
	if r.healed() {
		r.out.fresh = time.Since(r.out.fault)
		r.out.requests = r.b.requests(guardedAgent) - r.requestsHad
	}
	if r.hold == 0 && r.out.fresh >= 0 {
		r.follow(longer, never)
	}
}

// after is the guarded informer's history since the fault.
func (r *run) after() history { return r.all().since(r.out.fault) }

// follow waits until cond holds, at most for limit, and notes what is seen.
func (r *run) follow(limit time.Duration, cond func() bool) {
	note := func(d *time.Duration, seen bool) {
		if *d < 0 && seen {
			*d = time.Since(r.out.fault)
		}
	}
	poll.Until(r.t.Context(), limit, func() bool {
		note(&r.out.seen, r.sees(r.guarded))
		note(&r.out.stockSeen, r.sees(r.stock))
		return cond()
	})
}

// sees tells whether the informer's cache has the edit.
func (r *run) sees(inf cache.SharedIndexInformer) bool {
	obj, ok, err := inf.GetStore().GetByKey(r.b.namespace() + "/" + edited)
	return err == nil && ok && colorOf(obj) == after
}

// healed tells whether the edit is in the cache, and proven to be all.
func (r *run) healed() bool {
	h := r.all()
	return r.sees(r.guarded) && h.verdict() == freshness.Fresh && h.freshAsOf().After(r.out.fault)
}

// finish sums up.
func (r *run) finish() outcome {
	r.t.Helper()
	o := &r.out
	o.history, o.waited, o.liveness = r.all(), time.Since(r.out.fault), r.liveness()
	o.detected = o.history.detected(o.fault)
	o.refilled = r.b.refilled(guardedAgent) - r.refilledHad
	o.slow = r.slowness(r.b.slowestProof(guardedAgent))
	o.provenEvery = o.history.longestGap(time.Now())
	o.contents = differs(r.guarded, contents(r.t, r.b, r.kind))
	return *o
}
