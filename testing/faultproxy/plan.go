// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import "time"

// plan is what the faults in force want of a body.
type plan struct {
	changed <-chan struct{} // closed when the plan is out of date

	silent   bool          // swallow everything, the end included
	holdOpen *rule         // swallow the end
	filters  []*rule       // events that may be dropped
	delay    time.Duration // of each event
	rate     int64         // bytes per second; 0: no limit
	cutAt    time.Time     // end the stream then; zero: never
	cut      *rule
	truncate *rule // end the stream inside the next event
	fail     *rule // end the stream with an ERROR event
}

// cutNoLaterThan keeps the earliest of several cuts.
func (p *plan) cutNoLaterThan(t time.Time, r *rule) {
	if p.cut == nil || t.Before(p.cutAt) {
		p.cutAt, p.cut = t, r
	}
}

// slower keeps the lowest of several rates.
func (p *plan) slower(rate int64) {
	if p.rate == 0 || rate < p.rate {
		p.rate = rate
	}
}
