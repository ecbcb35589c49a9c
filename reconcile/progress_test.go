// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"testing"
	"time"
)

func TestProgressAdvance(t *testing.T) {
	opts := DeadlineOptions{Timeout: 15 * time.Minute, Grace: time.Minute, FailAfter: 5 * time.Minute}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		name string
		from Stage
		late time.Duration // after it was due
		want Stage
		due  time.Duration // after that
	}{
		{"within the deadline", Running, -1, Running, 1},
		{"at the deadline", Running, 0, Overrun, opts.Grace},
		{"a deadline that is noticed late counts all the same", Running, 3 * time.Hour, Overrun, opts.Grace},
		{"within the grace", Overrun, -1, Overrun, 1},
		{"past the grace", Overrun, 0, Wedged, opts.FailAfter},
		{"past the grace, a little late", Overrun, opts.Grace / 2, Wedged, opts.FailAfter},
		{"paused in the grace, which begins again", Overrun, opts.Grace/2 + 1, Overrun, opts.Grace},
		{"wedged", Wedged, -1, Wedged, 1},
		{"wedged for long", Wedged, 0, Failing, 0},
		{"wedged for long, a little late", Wedged, opts.FailAfter / 2, Failing, 0},
		{"paused while wedged", Wedged, opts.FailAfter/2 + 1, Wedged, opts.FailAfter},
		{"failing, which is the end", Failing, 1000 * time.Hour, Failing, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := began.Add(tt.late)
			got := progress{tt.from, began}.advance(now, opts)
			if got.stage != tt.want {
				t.Errorf("%v, want %v", got.stage, tt.want)
			}
			if due := got.due.Sub(now); tt.want != Failing && due != tt.due {
				t.Errorf("due after %v, want %v", due, tt.due)
			}
		})
	}
}
