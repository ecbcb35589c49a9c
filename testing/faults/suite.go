// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// ownPlanes is how many rows at once have a control plane of their own.
	ownPlanes = 3
	// stockTime is how long the stock informer is given to see the edit once the
	// guarded one has proven that it did; in the fast subset, fastStockTime.
	stockTime, fastStockTime = 60 * time.Second, 10 * time.Second
)

// suite plays rows. Those that hit everybody on a server have a control plane of
// their own, the others share one.
type suite struct {
	options
	progress *progress
	planeLog io.Writer

	mu     sync.Mutex
	shared *plane
	err    error // why there is none
}

// run plays all rows and returns their results in the order of the rows. An error
// means that a control plane did not end as it should.
func (s *suite) run(ctx context.Context) ([]result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("the suite took longer than %v", s.timeout))
	defer cancel()
	results := make([]result, len(s.rows))
	var sharing, owning errgroup.Group
	sharing.SetLimit(s.parallel)
	owning.SetLimit(ownPlanes)
	var all sync.WaitGroup
	start := func(group *errgroup.Group, own bool) {
		for _, i := range s.order() {
			if s.rows[i].ground.own == own {
				group.Go(func() error {
					results[i] = s.play(ctx, s.rows[i])
					return nil
				})
			}
		}
		_ = group.Wait() // rows tell what is wrong in their results
	}
	all.Go(func() { start(&sharing, false) })
	all.Go(func() { start(&owning, true) })
	all.Wait()
	return results, s.stop()
}

// order returns the indices of the rows, those that take longest first.
func (s *suite) order() []int {
	out := make([]int, len(s.rows))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return int(s.rows[b].lasts - s.rows[a].lasts) })
	return out
}

// play plays one row.
func (s *suite) play(ctx context.Context, r *row) result {
	r.job.Unguarded = s.unguarded
	s.progress.begin(r)
	res := resultOf(r, s.outcome(ctx, r))
	s.progress.end(res)
	return res
}

func (s *suite) outcome(ctx context.Context, r *row) outcome {
	given := stockTime
	if s.fast {
		given = fastStockTime
	}
	if !r.ground.own {
		p, err := s.sharedPlane(ctx)
		if err != nil {
			return unplayed(err)
		}
		return r.playOn(ctx, p, given)
	}
	p, err := startPlane(ctx, r.ground, s.version, s.planeLog)
	if err != nil {
		return unplayed(err)
	}
	o := r.playOn(ctx, p, given)
	o.broken = errors.Join(o.broken, p.stop())
	return o
}

// unplayed is the outcome of a row whose stage could not be set.
func unplayed(err error) outcome {
	o := newOutcome()
	o.broken = err
	return o
}

// sharedPlane is started by the first row that needs it.
func (s *suite) sharedPlane(ctx context.Context) (*plane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil && s.err == nil {
		s.shared, s.err = startPlane(ctx, ground{}, s.version, s.planeLog)
	}
	return s.shared, s.err
}

func (s *suite) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		return nil
	}
	return s.shared.stop()
}
