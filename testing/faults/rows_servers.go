// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// serverRows are about the API server itself, and its watch cache.
func serverRows() []*row {
	return []*row{
		{
			id:     "6",
			fault:  "the API server is frozen: SIGSTOP (transport and freshness)",
			ground: ground{own: true},
			job:    job{Transport: true},
			strike: func(ctx context.Context, s *scene) (mend, error) {
				return func(context.Context) error { return s.Resume(controlplane.APIServer) }, s.Pause(ctx, controlplane.APIServer)
			},
			lasts: beyondLiveness, named: true, editLater: true,
			want: expectation{
				detected: promise, says: []freshness.Verdict{freshness.Unreachable, freshness.Fresh},
				never:  append(notProcess(), freshness.ControlPlaneStalled, freshness.Blind),
				healed: recovery, may: renewal(), relists: true,
			},
		},
		{
			id: "9", fast: true,
			fault:  "the watch cache of one kind is frozen: etcd's watch sends nothing, reads and writes work",
			proofs: 2,
			strike: func(_ context.Context, s *scene) (mend, error) {
				return until(s.servers[0].etcd.FreezeWatches(s.kind.etcdPrefix()))
			},
			lasts: 30 * time.Second, named: true,
			want: frozen(),
		},
		{
			id:     "9-all",
			fault:  "the watch caches of all kinds are frozen",
			ground: ground{own: true},
			proofs: 2,
			strike: func(_ context.Context, s *scene) (mend, error) {
				return until(s.servers[0].etcd.FreezeWatches(""))
			},
			lasts: beyondLiveness, named: true,
			want: frozen(),
		},
		{
			id:     "10",
			fault:  "the watch cache of a kind is 8 s late",
			proofs: 2,
			strike: func(ctx context.Context, s *scene) (mend, error) {
				delay := s.servers[0].etcd.Delay(s.kind.etcdPrefix(), 8*time.Second)
				stop := s.bustle(ctx)
				return func(context.Context) error {
					stop()
					delay.Lift()
					return nil
				}, nil
			},
			lasts: 3 * time.Minute,
			want:  expectation{healed: recovery, inTime: true, never: nobody(), may: renewal()},
		},
	}
}

// frozen is what is wanted where a watch cache stands still.
func frozen() expectation {
	return expectation{
		detected: 2 * time.Minute, says: []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Fresh},
		never: append(notProcess(), freshness.Unreachable),
		words: []string{"watch cache", "restarting this process does not help"},
		may:   renewal(), patient: true, healed: recovery, blind: true,
	}
}
