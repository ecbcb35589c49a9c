// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// play is a row under way.
type play struct {
	*scene
	out outcome
	// before is what was to be seen when the fault came.
	before snapshot
	last   snapshot
	asks   int64 // that the guarded client had made then
}

// playOn plays a row on a control plane and tells what came of it.
func (r *row) playOn(ctx context.Context, p *plane, stockTime time.Duration) outcome {
	o := newOutcome()
	s, err := newScene(ctx, p, r)
	if err != nil {
		o.broken = err
		return o
	}
	pl := &play{scene: s, out: o}
	err = pl.run(ctx, stockTime)
	if pl.cast != nil {
		err = errors.Join(err, pl.cast.close())
	}
	pl.out.broken = errors.Join(err, s.close())
	return pl.out
}

// run is the whole of a row.
func (p *play) run(ctx context.Context, stockTime time.Duration) error {
	if !p.row.early {
		if err := p.enter(ctx); err != nil {
			return err
		}
		if err := p.warmUp(ctx); err != nil {
			return err
		}
		if p.row.prepare != nil {
			if err := p.row.prepare(ctx, p.scene); err != nil {
				return fmt.Errorf("preparing the fault: %w", err)
			}
		}
	}
	if err := p.act(ctx); err != nil {
		return err
	}
	p.follow(ctx, max(stockTime, p.row.linger), func() bool { return p.out.stock >= 0 && p.row.linger == 0 })
	p.conclude()
	return context.Cause(ctx)
}

// enter starts the informers.
func (p *play) enter(ctx context.Context) error {
	guarded, err := p.config(guardedAgent)
	if err != nil {
		return err
	}
	stock, err := p.config(stockAgent)
	if err != nil {
		return err
	}
	j := p.row.job
	j.Namespaces = p.ns
	if p.row.elsewhere {
		p.cast, err = startHelper(ctx, guarded, stock, j)
		return err
	}
	if p.row.outfit != nil {
		if err := p.row.outfit(p.scene, &j); err != nil {
			return err
		}
	}
	p.cast, err = startTwins(ctx, guarded, stock, j)
	return err
}

// warmUp waits until the guard knows the stream, and both caches are filled.
func (p *play) warmUp(ctx context.Context) error {
	ready := func() bool {
		p.last = p.cast.snapshot()
		return p.last.Synced && p.last.proven(max(p.row.proofs, 1)) && p.last.Guarded == before && p.last.Stock == before
	}
	if !poll.Until(ctx, patience, ready) {
		return errors.Join(context.Cause(ctx), fmt.Errorf("the informers are not ready within %v: %+v", patience, p.last.Informers))
	}
	return nil
}

// act makes the fault and the edit, follows them to the end, and mends the fault.
func (p *play) act(ctx context.Context) error {
	var mend mend
	p.before, p.asks = p.last, p.requests()
	p.out.fault = time.Now()
	if p.row.strike != nil {
		var err error
		if mend, err = p.row.strike(ctx, p.scene); err != nil {
			return fmt.Errorf("making the fault: %w", err)
		}
		p.out.fault = time.Now()
	}
	if p.row.names != nil {
		p.row.want.words = append(p.row.want.words, p.row.names(p.scene)...)
	}
	if p.row.early {
		if err := p.enter(ctx); err != nil {
			return err
		}
	}
	if p.row.strike != nil && !p.row.editLater {
		if err := p.edit(ctx); err != nil {
			return err
		}
	}
	if p.row.named {
		p.follow(ctx, p.row.limit(), func() bool { return p.out.named })
	}
	if p.row.lasts > 0 {
		p.follow(ctx, p.row.lasts, func() bool { return false })
	}
	if p.row.lasts > 0 && p.row.strike != nil && mend != nil {
		if err := mend(ctx); err != nil {
			return fmt.Errorf("ending the fault: %w", err)
		}
		p.out.lifted = time.Since(p.out.fault)
	}
	if p.out.edited < 0 {
		if err := p.edit(ctx); err != nil {
			return err
		}
	}
	p.follow(ctx, p.row.limit(), func() bool { return p.out.healed >= 0 })
	return nil
}

// edit changes the object, as an administrator who goes past the proxies.
func (p *play) edit(ctx context.Context) error {
	if err := p.paint(ctx, p.kind, p.ns[0], edited, after); err != nil {
		return err
	}
	p.out.edited = time.Since(p.out.fault)
	return nil
}

// follow looks until cond holds, at most for limit, and notes what is seen first.
func (p *play) follow(ctx context.Context, limit time.Duration, cond func() bool) {
	poll.Until(ctx, limit, func() bool {
		p.look()
		return cond()
	})
}

func (p *play) look() {
	s, o := p.cast.snapshot(), &p.out
	p.last = s
	if o.healed < 0 {
		o.requests = p.requests()
	}
	since := func(from time.Duration) time.Duration { return time.Since(o.fault) - from }
	if o.detected < 0 {
		o.detected = p.noticed(s)
	}
	o.named = o.named || p.named(s)
	if o.edited < 0 {
		return
	}
	if o.stock < 0 && s.Stock == after {
		o.stock = since(o.edited)
	}
	if o.seen < 0 && s.Guarded == after {
		o.seen = since(o.edited)
	}
	if o.healed < 0 && s.Guarded == after && (p.row.want.unproven || s.freshSince(o.fault.Add(o.edited))) {
		o.healed = since(o.edited)
		o.renewed = s.renewals() > p.before.renewals()
	}
}

// noticed returns how long after the fault there was a first sign that the guard
// knows, or never.
func (p *play) noticed(s snapshot) time.Duration {
	for _, e := range s.Events.between(p.out.fault, time.Time{}) {
		if e.tells() {
			return e.At.Sub(p.out.fault)
		}
	}
	for _, r := range s.Reasons {
		if !r.At.Before(p.out.fault) && len(p.row.want.words) > 0 && strings.Contains(r.Text, p.row.want.words[0]) {
			return r.At.Sub(p.out.fault)
		}
	}
	if s.doubts() > p.before.doubts() || s.faulty() > p.before.faulty() {
		return time.Since(p.out.fault)
	}
	return never
}

// named tells whether the guard has said all that is wanted while the fault lasts:
// the first verdict, and the words.
func (p *play) named(s snapshot) bool {
	w := p.row.want
	if len(w.says) > 0 && !slices.Contains(s.Events.between(p.out.fault, time.Time{}).verdicts(), w.says[0]) {
		return false
	}
	return len(w.words) == 0 || s.says(p.out.fault, w.words...)
}

// conclude sums up.
func (p *play) conclude() {
	p.look()
	o := &p.out
	o.ended = time.Since(o.fault)
	o.history = p.last.Events.between(o.fault, time.Time{})
	for _, r := range p.last.Reasons {
		if !r.At.Before(o.fault) {
			o.reasons = append(o.reasons, r)
		}
	}
	o.unhealthy = p.last.Unhealthy
	for reason, n := range p.last.Ends {
		if !routine(reason) && n > p.before.Ends[reason] {
			o.faulty = append(o.faulty, reason)
		}
	}
	slices.Sort(o.faulty)
	o.relisted, o.stockRelisted = p.bill(o.fault)
	o.requests -= p.asks
	o.asked = p.asked(o.fault)
	if p.row.early {
		o.start = freshness.Syncing
	}
}
