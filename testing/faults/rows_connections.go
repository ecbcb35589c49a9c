// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// connectionRows lose connections between the informers and the API server. The
// guard has the transport where finding them dead is the transport's business.
func connectionRows() []*row {
	return []*row{
		{
			id: "1", fast: true,
			fault:  "half-open TCP under HTTP/2: a black hole for the open connections (transport and freshness)",
			job:    job{Transport: true},
			strike: deadConnections,
			want: expectation{
				detected: pinged, healed: promise, inTime: true, sooner: true,
				never: notServer(), may: renewal(),
			},
		},
		{
			id:    "1-alone",
			fault: "the same, with freshness alone: it reads over the dead connection, too",
			// client-go's own PING finds out after 45 s, and lists again.
			strike: deadConnections,
			want: expectation{
				healed: promise, inTime: true,
				never: []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Blind}, may: ladder(), asStock: true,
			},
		},
		{
			id:    "2",
			fault: "half-open TCP under HTTP/1.1: a black hole for the open connections (transport and freshness)",
			job:   job{Transport: true, HTTP1: true},
			// The transport's bound on silence is 90 s; the watch is renewed for a proof before.
			strike: deadConnections,
			want: expectation{
				healed: 125 * time.Second, inTime: true, blind: true,
				never: []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Blind}, may: renewal(),
			},
		},
		{
			id:     "3",
			fault:  "a proxy answers PINGs, its open connections to the API server are dead, new ones are not",
			link:   link{perRequest: true},
			proofs: 2,
			strike: deadUpstream(faultproxy.Blackhole{Existing: true}),
			want: expectation{
				detected: promise, healed: promise, inTime: true, blind: true,
				never: []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Blind}, may: renewal(),
			},
		},
		{
			id:     "3-all",
			fault:  "a proxy answers PINGs, all its connections to the API server are dead, new ones too",
			job:    job{Transport: true},
			strike: deadUpstream(faultproxy.Blackhole{}),
			lasts:  beyondLiveness, named: true,
			want: expectation{
				detected: promise, says: []freshness.Verdict{freshness.Unreachable, freshness.Fresh},
				never:  append(notProcess(), freshness.ControlPlaneStalled, freshness.Blind),
				healed: recovery, blind: true, may: renewal(), relists: true,
			},
		},
		{
			id:     "4",
			fault:  "a proxy cuts each stream after 20 s: no fault of anybody's, and the edit comes at once",
			strike: cutStreams, lasts: 2 * time.Minute,
			want: expectation{healed: recovery, inTime: true, never: nobody(), may: renewal()},
		},
		{
			id:    "5",
			fault: "a flow is pinned to a dead backend by a proxy that answers PINGs; a new connection leads to another (transport)",
			job:   job{Transport: true},
			link:  link{pinned: true}, proofs: 2,
			strike: func(_ context.Context, s *scene) (mend, error) {
				s.balancer.leadTo(1)
				return until(s.ways[0].back.Blackhole(faultproxy.Blackhole{}))
			},
			want: expectation{
				detected: promise, never: []freshness.Verdict{freshness.ControlPlaneStalled, freshness.Blind},
				may: append(ladder(), freshness.Reconnect), healed: 4 * time.Minute, inTime: true, blind: true, relists: true,
			},
		},
		{
			id:    "5-watch",
			fault: "a flow is pinned to a backend that answers, but sends nothing on any watch; a new connection leads to another (transport)",
			job:   job{Transport: true},
			link:  link{pinned: true}, proofs: 2, linger: 2 * time.Minute,
			strike: func(_ context.Context, s *scene) (mend, error) {
				s.balancer.leadTo(1)
				return until(s.inject(s.watches(), faultproxy.Silence{}))
			},
			want: expectation{
				detected: promise, says: []freshness.Verdict{freshness.Stalled, freshness.Fresh},
				must: []freshness.Rung{freshness.Reconnect}, may: ladder(),
				never: notServer(), healed: 3 * time.Minute, inTime: true, blind: true, relists: true,
			},
		},
		{
			id:    "7",
			fault: "a network policy drops everything, new connections too: dials time out (transport)",
			job:   job{Transport: true},
			strike: func(_ context.Context, s *scene) (mend, error) {
				return until(s.ways[0].front.Blackhole(faultproxy.Blackhole{}))
			},
			lasts: beyondLiveness, named: true,
			want: expectation{
				detected: promise, says: []freshness.Verdict{freshness.Unreachable, freshness.Fresh},
				never:  append(notProcess(), freshness.ControlPlaneStalled, freshness.Blind),
				healed: recovery, blind: true, may: renewal(), relists: true,
			},
		},
		{
			id: "8", early: true,
			fault: "the first LIST is accepted and never answered (transport)",
			job:   job{Transport: true, ListFirst: true},
			strike: func(_ context.Context, s *scene) (mend, error) {
				for _, client := range []string{guardedAgent, stockAgent} {
					m := s.match("list")
					m.UserAgent, m.Times = client, 1
					s.inject(m, faultproxy.HangList{})
				}
				return nil, nil
			},
			want: expectation{
				detected: promise, healed: 3 * time.Minute, inTime: true, blind: true,
				never: nobody(), may: renewal(), relists: true,
			},
		},
	}
}

func deadConnections(_ context.Context, s *scene) (mend, error) {
	s.ways[0].front.Blackhole(faultproxy.Blackhole{Existing: true})
	return nil, nil
}

func deadUpstream(b faultproxy.Blackhole) func(context.Context, *scene) (mend, error) {
	return func(_ context.Context, s *scene) (mend, error) {
		return until(s.ways[0].back.Blackhole(b))
	}
}

func cutStreams(_ context.Context, s *scene) (mend, error) {
	return until(s.inject(s.watches(), faultproxy.CutStreamEvery{}))
}
