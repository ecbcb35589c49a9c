// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// contentRows are about caches that have moved on and lack something.
func contentRows() []*row {
	return []*row{
		{
			id:     "11",
			fault:  "an event is lost between API server and informers, and the resourceVersion moves on",
			proofs: 2,
			outfit: audited,
			strike: func(_ context.Context, s *scene) (mend, error) {
				s.inject(s.watches(), faultproxy.DropEvents{Types: []watch.EventType{watch.Modified}, Name: edited})
				return nil, nil
			},
			want: expectation{
				detected: 3 * time.Minute, healed: 4 * time.Minute, inTime: true, blind: true,
				says:  []freshness.Verdict{freshness.Diverged, freshness.Fresh},
				words: []string{edited}, never: append(notServer(), freshness.Stalled),
				must: []freshness.Rung{freshness.Relist}, may: ladder(), relists: true,
			},
		},
		{
			id:     "11-etcd",
			fault:  "an event is lost between etcd and API server: its watch cache lacks the edit, until the server compares the two",
			proofs: 2,
			outfit: audited,
			strike: func(_ context.Context, s *scene) (mend, error) {
				s.servers[0].etcd.DropEvents(s.kind.etcdPrefix(), 1)
				return nil, nil
			},
			want: expectation{
				detected: 10 * time.Minute, healed: 12 * time.Minute, inTime: true, blind: true,
				says:  []freshness.Verdict{freshness.Diverged, freshness.Fresh},
				words: []string{edited}, never: []freshness.Verdict{freshness.Stalled},
				may: ladder(), relists: true,
			},
		},
		{
			id:      "12",
			fault:   "the resourceVersion goes back: etcd is restored from an earlier state",
			ground:  ground{own: true},
			prepare: backUp,
			strike:  restore,
			want: expectation{
				detected: promise, healed: promise, inTime: true, blind: true,
				says:  []freshness.Verdict{freshness.Stalled, freshness.Fresh},
				never: []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Blind},
				must:  []freshness.Rung{freshness.Relist}, may: renewal(), relists: true,
			},
		},
	}
}

// audited has contents compared once a minute, which is as often as they can be.
func audited(_ *scene, j *job) error {
	j.change = func(o *freshness.Options) { o.Audit.Every = time.Minute }
	return nil
}

// backUp copies the datastore, and lets the cluster move on.
func backUp(ctx context.Context, s *scene) error {
	var err error
	if s.backup, err = s.Checkpoint(ctx); err != nil {
		return err
	}
	const writes = 200 // more than a restarted API server makes by itself
	for i := range writes {
		if err := s.put(ctx, s.kind, s.kind.object(s.ns[0], fmt.Sprintf("later-%d", i%10), map[string]any{"color": fmt.Sprint(i)})); err != nil {
			return err
		}
	}
	return nil
}

// restore puts the copy back. Meanwhile connections are refused, not answered by
// anybody in the server's place, so that reflectors go on from where they were: at a
// resourceVersion that the server has yet to reach.
func restore(ctx context.Context, s *scene) (mend, error) {
	front := s.ways[0].front
	refusal := front.Refuse()
	front.Reset()
	if err := s.Rewind(ctx, s.backup); err != nil {
		return nil, err
	}
	if err := s.awaitPermission(ctx); err != nil {
		return nil, err
	}
	refusal.Lift()
	return nil, nil
}
