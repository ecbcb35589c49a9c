// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// datastoreRows stop etcd. Nothing is wrong with any informer, and nothing that it
// could do would help.
func datastoreRows() []*row {
	return []*row{
		{
			id:     "17",
			fault:  "etcd is stopped: no write, no quorum read",
			ground: ground{own: true},
			strike: stopEtcd, lasts: beyondLiveness, named: true, editLater: true,
			want: expectation{
				detected: promise, says: []freshness.Verdict{freshness.Unreachable, freshness.Fresh},
				never:  append(notProcess(), freshness.Blind, freshness.ControlPlaneStalled),
				healed: recovery, patient: true, may: renewal(),
			},
		},
		{
			id:        "33",
			fault:     "etcd is stopped for two minutes under 50 informers",
			ground:    ground{own: true},
			informers: 50,
			strike:    stopEtcd, lasts: 2 * time.Minute, editLater: true,
			want: expectation{
				never:  append(notProcess(), freshness.Blind, freshness.ControlPlaneStalled),
				healed: recovery, patient: true, may: renewal(), requests: 50 * 25,
			},
		},
	}
}

func stopEtcd(ctx context.Context, s *scene) (mend, error) {
	return func(context.Context) error { return s.Resume(controlplane.Etcd) }, s.Pause(ctx, controlplane.Etcd)
}
