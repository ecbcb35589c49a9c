// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// streamRows are about what watches bring, and when they end.
func streamRows() []*row {
	return []*row{
		{
			id:     "3-one",
			fault:  "one stream goes silent beside live ones: no byte more, no end, PINGs answered",
			proofs: 2,
			strike: silence,
			want: expectation{
				detected: promise, healed: promise, inTime: true, blind: true,
				must: renewal(), never: notServer(),
			},
		},
		{
			id: "3-short", fast: true,
			fault:  "the same, with MaxStaleness 20 s: the watch is renewed before anybody suspects it",
			job:    job{MaxStaleness: 20 * time.Second},
			strike: silence,
			want: expectation{
				healed: time.Minute, inTime: true, blind: true, may: renewal(), never: notServer(),
			},
		},
		{
			id:     "13",
			fault:  "410 for ever: each watch after a LIST ends with an event that says so",
			job:    job{ListFirst: true},
			strike: expire, lasts: 2 * time.Minute,
			want: expectation{
				healed: recovery, never: append(notProcess(), freshness.ControlPlaneStalled),
				may: renewal(), relists: true, requests: 200,
			},
		},
		{
			id:     "13-stream",
			fault:  "410 for ever: each WatchList ends with an event that says so, which client-go repeats without a pause",
			strike: expire, lasts: 2 * time.Minute,
			want: expectation{
				healed: recovery, never: append(notProcess(), freshness.ControlPlaneStalled),
				may: renewal(), asStock: true, requests: 200,
			},
		},
		{
			id: "14", fast: true, early: true,
			fault: "a WatchList without its end: the bookmark that ends the initial events is lost",
			job:   job{SyncTimeout: 20 * time.Second},
			strike: func(_ context.Context, s *scene) (mend, error) {
				s.inject(s.watches(), faultproxy.WithholdInitialEventsEnd{})
				return nil, nil
			},
			want: expectation{
				detected: pinged, healed: recovery, inTime: true, blind: true,
				must: []freshness.Rung{freshness.List}, may: renewal(), never: nobody(), relists: true,
			},
		},
		{
			id:     "15",
			fault:  "the server sends no bookmarks: no stall, and the edit comes at once",
			strike: withholdBookmarks, lasts: 4 * time.Minute,
			want: expectation{healed: recovery, inTime: true, never: nobody(), may: renewal()},
		},
		{
			id:     "16",
			fault:  "a stream is open past its timeout, and silent (transport, MaxWatch 30 s)",
			job:    job{Transport: true, MaxWatch: 30 * time.Second, ListFirst: true, WatchFor: 30 * time.Second},
			strike: holdOpen,
			want: expectation{
				detected: pinged, healed: promise, inTime: true, blind: true, never: notServer(), may: renewal(),
			},
		},
		{
			id:     "16-alone",
			fault:  "the same, with freshness alone",
			job:    job{ListFirst: true, WatchFor: 40 * time.Second},
			proofs: 2,
			strike: holdOpen,
			want: expectation{
				detected: promise, healed: promise, inTime: true, blind: true, must: renewal(), never: notServer(),
			},
		},
	}
}

func expire(_ context.Context, s *scene) (mend, error) {
	return until(s.inject(s.watches(), faultproxy.ErrorEvent{}))
}

func silence(_ context.Context, s *scene) (mend, error) {
	return until(s.inject(s.watches(), faultproxy.Silence{OnlyOpen: true}))
}

func withholdBookmarks(_ context.Context, s *scene) (mend, error) {
	return until(s.inject(s.watches(), faultproxy.WithholdBookmarks{}))
}

// holdOpen waits until the server has ended the watch of each, in vain.
func holdOpen(ctx context.Context, s *scene) (mend, error) {
	m := s.watches()
	m.Times = 2
	held := s.inject(m, faultproxy.HoldOpen{})
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return nil, held.WaitHits(ctx, 2)
}
