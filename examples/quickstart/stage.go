// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

const (
	readyLimit = 3 * time.Minute  // a first proof by bookmark takes a minute
	seenLimit  = 30 * time.Second // milliseconds, on a machine that is not overloaded
	look       = 100 * time.Millisecond
)

// stage is what a demo is performed on.
type stage struct {
	cluster *cluster
	witness *witness
	monitor *freshness.Monitor
}

// rehearse lets both operators run until the fault may come, and shows that both
// see an edit at once.
func (s *stage) rehearse(ctx context.Context, f fault) error {
	s.witness.timeline.begin(time.Now(), "Before the fault, in seconds since the start:")
	ready, err := s.await(ctx, readyLimit, func(now time.Time) bool { return f.mayCome(now, s.monitor.Status()) })
	if err != nil {
		return err
	}
	if !ready {
		return fmt.Errorf("the guarded operator was not proven fresh within %v", readyLimit)
	}
	if err := s.edit(ctx, "blue"); err != nil {
		return err
	}
	seen, err := s.await(ctx, seenLimit, func(time.Time) bool { return s.witness.sees(stock) && s.witness.sees(guarded) })
	if err == nil && !seen {
		err = fmt.Errorf("an edit before any fault was not seen within %v", seenLimit)
	}
	return err
}

// perform brings the fault about, edits both objects, and watches until the fault
// has shown all it has to show, or for exactly limit.
func (s *stage) perform(ctx context.Context, f fault, limit time.Duration, exactly bool) error {
	faultAt := time.Now()
	s.witness.broke(faultAt, f.title)
	faults := f.inject(s.cluster)
	if len(faults) > 0 {
		if err := s.edit(ctx, "green"); err != nil {
			return err
		}
	}
	restless := faultAt // the last moment at which there was more to come
	_, err := s.await(ctx, limit, func(now time.Time) bool {
		o := s.witness.now().outcome(now)
		if f.holds > 0 && o.lifted == 0 && o.detected > 0 && o.waited > o.detected+f.holds {
			for _, fault := range faults {
				fault.Lift()
			}
			s.witness.lifted(now)
		}
		if !f.over(o) {
			restless = now
		}
		return !exactly && f.over(o) && now.Sub(restless) >= f.lingers
	})
	return err
}

// edit gives both objects another color.
func (s *stage) edit(ctx context.Context, color string) error {
	for _, o := range []object{settings, gadget} {
		s.witness.edited(o, color)
		if err := s.cluster.edit(ctx, o, color); err != nil {
			return fmt.Errorf("editing %v: %w", o, err)
		}
	}
	return nil
}

// await waits until done says so, or for limit, and tells which. Meanwhile it asks
// the liveness probe, as a kubelet would.
func (s *stage) await(ctx context.Context, limit time.Duration, done func(now time.Time) bool) (bool, error) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	end := time.Now().Add(limit)
	for {
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case now := <-ticker.C:
			s.witness.alive(s.monitor.Check(nil))
			switch {
			case done(now):
				return true, nil
			case now.After(end):
				return false, nil
			}
			s.witness.timeline.idle(now)
		}
	}
}

// conclude returns what came of it by now, and what it cost.
func (s *stage) conclude(f fault) outcome {
	now, r := time.Now(), s.witness.now()
	o := r.outcome(now)
	o.fault = f.name
	o.stock.cost = s.cluster.costOf(stock, r.faultAt, r.faultAt.Add(o.until(o.stock)))
	o.guarded.cost = s.cluster.costOf(guarded, r.faultAt, r.faultAt.Add(o.until(o.guarded)))
	return o
}
