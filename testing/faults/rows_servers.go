// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/apiservers"
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
			id:    "9-refused",
			fault: "the same, and the server refuses consistent lists with 429 (an alpha feature of 1.37)",
			ground: ground{
				own: true, only: "1.37",
				serverArgs: []string{"--feature-gates=ConsistentListFromCacheSkipTimeoutFallback=true"},
			},
			proofs: 2,
			strike: func(_ context.Context, s *scene) (mend, error) {
				return until(s.servers[0].etcd.FreezeWatches(""))
			},
			lasts: beyondLiveness, named: true,
			want: frozen(),
		},
		{
			id:     "9-two",
			fault:  "the watch cache of one of two API servers is frozen; new connections lead to both in turn (transport, Servers)",
			ground: ground{own: true, servers: 2},
			job:    job{Transport: true},
			proofs: 2,
			outfit: asked,
			names:  func(s *scene) []string { return []string{"frozen: " + s.address(0), "up to date: " + s.address(1)} },
			strike: func(_ context.Context, s *scene) (mend, error) {
				s.balancer.takeTurns(1)
				return until(s.servers[0].etcd.FreezeWatches(s.kind.etcdPrefix()))
			},
			want: expectation{
				detected: 2 * time.Minute, says: []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Fresh},
				must: []freshness.Rung{freshness.Reconnect}, may: renewal(), never: append(notProcess(), freshness.Unreachable),
				healed: 4 * time.Minute, inTime: true, blind: true,
			},
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

// asked lets the guard ask each API server at its own address.
func asked(s *scene, j *job) error {
	user, err := s.User(s.user)
	if err != nil {
		return err
	}
	var addresses []string
	for i := range s.servers {
		addresses = append(addresses, s.address(i))
	}
	servers, err := apiservers.New(user, apiservers.Options{Addresses: addresses})
	j.change = func(o *freshness.Options) { o.Servers = servers }
	return err
}

// address is host:port of an API server itself.
func (s *scene) address(server int) string {
	return strings.TrimPrefix(s.servers[server].config.Host, "https://")
}
