// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"math"
	"testing"
	"time"
)

func TestOverdue(t *testing.T) {
	const ns = time.Nanosecond
	l := limits{maxWatch: 200 * time.Second, grace: 10 * time.Second, header: 30 * time.Second, idle: 90 * time.Second, list: 70 * time.Second}
	tests := []struct {
		name         string
		p            progress
		age, silence time.Duration
		want         EndReason
		yes          bool
	}{
		{"list waits for its headers", progress{kind: list}, 70 * time.Second, 70*time.Second - ns, 0, false},
		{"list got no headers", progress{kind: list}, 70 * time.Second, 70 * time.Second, EndedStalled, true},
		{"list moves, however old", progress{kind: list, answered: true, reading: true}, time.Hour, 70*time.Second - ns, 0, false},
		{"list stopped moving", progress{kind: list, answered: true, reading: true}, time.Hour, 70 * time.Second, EndedStalled, true},
		{"list that nobody reads", progress{kind: list, answered: true}, time.Hour, time.Hour, 0, false},
		{"watch waits for its headers", progress{kind: watch, timeout: 150 * time.Second}, 30 * time.Second, 30*time.Second - ns, 0, false},
		{"watch got no headers", progress{kind: watch, timeout: 150 * time.Second}, 30 * time.Second, 30 * time.Second, EndedHeaders, true},
		{"watch is quiet", progress{kind: watch, answered: true, reading: true, timeout: 150 * time.Second}, 100 * time.Second, 90*time.Second - ns, 0, false},
		{"watch is too quiet", progress{kind: watch, answered: true, reading: true, timeout: 150 * time.Second}, 100 * time.Second, 90 * time.Second, EndedIdle, true},
		{"server may be late", progress{kind: watch, answered: true, reading: true, timeout: 150 * time.Second}, 160*time.Second - ns, time.Second, 0, false},
		{"server is too late", progress{kind: watch, answered: true, reading: true, timeout: 150 * time.Second}, 160 * time.Second, 0, EndedAge, true},
		{"a short watch has a short age", progress{kind: watch, answered: true, reading: true, timeout: 5 * time.Second}, 15 * time.Second, 12 * time.Second, EndedAge, true},
		{"watch that nobody reads", progress{kind: watch, answered: true, timeout: 150 * time.Second}, time.Hour, time.Hour, 0, false},
		{"initial events go on past MaxWatch", progress{kind: watch, renew: 200 * time.Second, answered: true, reading: true, timeout: 400 * time.Second}, 300 * time.Second, time.Second, 0, false},
		{"after initial events, a pause", progress{kind: watch, renew: 200 * time.Second, answered: true, reading: true, timeout: 400 * time.Second}, 200 * time.Second, 10 * time.Second, EndedRenewed, true},
		{"initial events hesitate", progress{kind: watch, renew: 200 * time.Second, answered: true, reading: true, timeout: 400 * time.Second}, 300 * time.Second, 10*time.Second - ns, 0, false},
		{"after initial events, a pause before MaxWatch", progress{kind: watch, renew: 200 * time.Second, answered: true, reading: true, timeout: 400 * time.Second}, 200*time.Second - ns, time.Minute, 0, false},
		{"initial events beyond their timeout", progress{kind: watch, renew: 200 * time.Second, answered: true, reading: true, timeout: 400 * time.Second}, 410 * time.Second, 0, EndedAge, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1e9, 0)
			tt.p.began, tt.p.quiet = now.Add(-tt.age), now.Add(-tt.silence)
			got, yes := l.overdue(now, tt.p)
			if yes != tt.yes || yes && got != tt.want {
				t.Errorf("overdue = %v, %v; want %v, %v", got, yes, tt.want, tt.yes)
			}
		})
	}
}

func TestLateness(t *testing.T) {
	for _, tt := range []struct{ since, want time.Duration }{
		{tick, 0},
		{3 * tick, 0},
		{3*tick + 1, 2*tick + 1},
		{2 * time.Minute, 2*time.Minute - tick},
	} {
		if got := lateness(tt.since); got != tt.want {
			t.Errorf("lateness(%v) = %v, want %v", tt.since, got, tt.want)
		}
	}
}

// Whoever wants no bound says so with the longest duration there is.
func TestLongestGraceEndsNothing(t *testing.T) {
	l := limits{grace: math.MaxInt64, idle: math.MaxInt64}
	now := time.Unix(1e9, 0)
	p := progress{kind: watch, answered: true, reading: true, timeout: 150 * time.Second, began: now.Add(-time.Hour), quiet: now.Add(-time.Hour)}
	if got, yes := l.overdue(now, p); yes {
		t.Errorf("overdue = %v, want no end", got)
	}
}
