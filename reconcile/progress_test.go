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
		past time.Duration // it was due
		late time.Duration // is this look
		want Stage
		due  time.Duration // after that
	}{
		{"within the deadline", Running, -1, 0, Running, 1},
		{"at the deadline", Running, 0, 0, Overrun, opts.Grace},
		{"a deadline that is noticed late counts all the same", Running, 3 * time.Hour, 3 * time.Hour, Overrun, opts.Grace},
		{"within the grace", Overrun, -1, 0, Overrun, 1},
		{"past the grace", Overrun, 0, 0, Wedged, opts.FailAfter},
		{"past the grace, as late as may be", Overrun, 0, pulse, Wedged, opts.FailAfter},
		{"paused in the grace, which is longer by that", Overrun, 0, pulse + 1, Overrun, pulse + 1},
		{"paused before the grace was over", Overrun, -10 * time.Second, time.Minute, Overrun, 70 * time.Second},
		{"wedged", Wedged, -1, 0, Wedged, 1},
		{"wedged for long", Wedged, 0, 0, Failing, 0},
		{"wedged for long, as late as may be", Wedged, 0, pulse, Failing, 0},
		{"paused while wedged", Wedged, time.Second, 4 * time.Minute, Wedged, 4*time.Minute - time.Second},
		{"failing, which is the end", Failing, 1000 * time.Hour, 1000 * time.Hour, Failing, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := began.Add(tt.past)
			got := progress{tt.from, began}.advance(now, tt.late, opts)
			if got.stage != tt.want {
				t.Errorf("%v, want %v", got.stage, tt.want)
			}
			if due := got.due.Sub(now); tt.want != Failing && due != tt.due {
				t.Errorf("due after %v, want %v", due, tt.due)
			}
		})
	}
}

// Once a context has ended, it is looked often enough to notice a pause.
func TestProgressNext(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		stage     Stage
		due, want time.Duration
	}{
		{Running, time.Hour, time.Hour}, {Overrun, time.Hour, pulse}, {Wedged, time.Hour, pulse}, {Wedged, pulse - 1, pulse - 1},
	} {
		if got := (progress{tt.stage, now.Add(tt.due)}).next(now).Sub(now); got != tt.want {
			t.Errorf("%v, due after %v: looked at after %v, want %v", tt.stage, tt.due, got, tt.want)
		}
	}
}

func TestStageHasAName(t *testing.T) {
	for s, want := range map[Stage]string{Running: "Running", Overrun: "Overrun", Wedged: "Wedged", Failing: "Failing", -1: "Stage(-1)", 4: "Stage(4)"} {
		if got := s.String(); got != want {
			t.Errorf("%d is called %q, want %q", int(s), got, want)
		}
	}
}
