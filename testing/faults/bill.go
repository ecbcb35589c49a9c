// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// requests counts what the guarded client has asked for so far.
func (s *scene) requests() (n int64) {
	for _, w := range s.ways {
		n += w.api.Counts(faultproxy.Match{UserAgent: guardedAgent}).Requests
	}
	return n
}

// bill sums up the objects that each was sent to fill its cache since a moment.
func (s *scene) bill(from time.Time) (guarded, stock int64) {
	for _, w := range s.ways {
		for _, r := range w.api.Requests(faultproxy.Match{}) {
			if r.Start.Before(from) || r.Limit == 1 { // with that it is a proof
				continue
			}
			switch r.UserAgent {
			case guardedAgent:
				guarded += r.Objects + r.InitialObjects
			case stockAgent:
				stock += r.Objects + r.InitialObjects
			}
		}
	}
	return guarded, stock
}

// asked tells the guarded client's requests since a moment, the first of them.
func (s *scene) asked(from time.Time) []string {
	const most = 60
	var out []string
	for i, w := range s.ways {
		for _, r := range w.api.Requests(faultproxy.Match{UserAgent: guardedAgent}) {
			if !r.Start.Before(from) && len(out) < most {
				out = append(out, fmt.Sprintf("%8.1f s  way %d: %s rv=%q limit=%d initial=%t timeout=%d: %d after %v, %d objects, %d events, %d bookmarks, open %t %v",
					r.Start.Sub(from).Seconds(), i+1, r.Verb, r.ResourceVersion, r.Limit, r.SendInitialEvents, r.TimeoutSeconds,
					r.Status, short(r.Duration), r.Objects+r.InitialObjects, r.Events, r.Bookmarks, r.Open, r.Faults))
			}
		}
	}
	return out
}
