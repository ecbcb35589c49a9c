// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// watchman goes his rounds.
type watchman struct {
	opts   options
	stderr io.Writer
	random func() float64 // in [0, 1)
}

// inspect asks all servers about all kinds, and runs the command if that is due.
func (w *watchman) inspect(ctx context.Context, cfg *rest.Config) (report, error) {
	servers, err := w.opts.connect(ctx, cfg)
	defer func() {
		for _, s := range servers {
			s.close()
		}
	}()
	if err != nil {
		return report{}, err
	}
	targets, err := w.resolve(ctx, servers)
	if err != nil {
		return report{}, err
	}
	var subjects []*subject
	for _, s := range servers {
		for _, t := range targets {
			subjects = append(subjects, &subject{server: s, target: t})
		}
	}
	if err := w.rounds(ctx, subjects); err != nil {
		return report{}, err
	}
	if w.opts.onFrozen != "" {
		w.act(ctx, subjects)
	}
	return newReport(subjects), ctx.Err()
}

// resolve asks the first server that answers what the kinds are.
func (w *watchman) resolve(ctx context.Context, servers []*server) (targets []target, err error) {
	for _, s := range servers {
		if targets, err = w.opts.targets(ctx, s); err == nil || classify(err) != unreachable {
			return targets, err
		}
	}
	return nil, err
}

// rounds takes the samples. Whoever is known to be healthy, or cannot be asked, is
// left alone after that.
func (w *watchman) rounds(ctx context.Context, subjects []*subject) error {
	for i := range w.opts.samples {
		var open []*subject
		for _, s := range subjects {
			if !s.settled() {
				open = append(open, s)
			}
		}
		if len(open) == 0 {
			return nil
		}
		if i > 0 {
			// Not in step with other nodes, nor with whatever is periodic here.
			if err := wait(ctx, time.Duration((0.75+w.random()/2)*float64(w.opts.interval))); err != nil {
				return err
			}
		}
		lookAtAll(ctx, open)
	}
	return ctx.Err()
}

// settled says whether another sample could change nothing.
func (s *subject) settled() bool {
	if len(s.samples) == 0 {
		return false
	}
	last := s.samples[len(s.samples)-1]
	if last.err != nil {
		return classify(last.err) == unknown
	}
	_, _, err := last.versions()
	return err != nil || last.lost() != "" || judge(s.samples).verdict == healthy
}

func lookAtAll(ctx context.Context, subjects []*subject) {
	var group sync.WaitGroup
	for _, s := range subjects {
		group.Go(func() { s.look(ctx) })
	}
	group.Wait()
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
