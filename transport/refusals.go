// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import "time"

// This file decides when a credential is dead. Everything else about 401s
// gathers the evidence, or acts on it.

// refusals is a row of 401s to one token, without a success in between.
type refusals struct {
	token     tokenID
	first     time.Time
	last      time.Time
	lasted    time.Duration // from first to last, without what silences count too much for
	responses int
	fresh     int       // connections opened after the first 401 that brought one
	newest    time.Time // when the newest of these was opened
}

// add takes one more 401, over a connection opened at the given time. Another
// token begins another row. No silence counts for more than longest: nobody
// knows what the answers would have been, and a process that was paused has
// nothing but silence to show.
func (r *refusals) add(now, opened time.Time, token tokenID, longest time.Duration) {
	if r.responses == 0 || r.token != token {
		*r = refusals{token: token, first: now, last: now, responses: 1}
		return
	}
	r.responses++
	r.lasted += min(max(now.Sub(r.last), 0), longest)
	r.last = now
	if opened.After(r.first) && opened.After(r.newest) {
		r.fresh++
		r.newest = opened
	}
}

// continues tells whether r is what became of an earlier state of the same row.
func (r *refusals) continues(earlier refusals) bool { return r.first.Equal(earlier.first) }

// proveDead decides whether the credential is to be given up, unless the API
// server itself contradicts. Where connections are known, one of the 401s has to
// come over a new one.
func (r *refusals) proveDead(o ExitOptions, connectionsKnown bool) bool {
	if o.Immediate {
		return r.responses > 0
	}
	return r.lasted >= o.After && r.responses >= o.MinResponses && (r.fresh > 0 || !connectionsKnown)
}
