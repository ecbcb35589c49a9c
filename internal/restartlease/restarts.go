// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package restartlease is what those have in common that ask for a restart and note it on
// a Lease first, so that restarts which do not help come to an end.
package restartlease

import (
	"slices"
	"strings"
	"time"
)

// Restarts is when restarts were asked for, as remembered in an annotation of the Lease,
// the oldest first.
type Restarts []time.Time

const (
	// RememberedAtMost bounds the annotation, whoever has written it, and a budget.
	RememberedAtMost = 32
	// clockSkew is how far another replica's clock may be ahead.
	clockSkew = 5 * time.Minute
)

// Parse reads the annotation, times as in RFC 3339 separated by commas, as far as it can be read, and tells whether all of
// it could be. What somebody has written by hand must not keep a process from starting,
// nor a time in the future a restart from ever being forgotten.
func Parse(text string, now time.Time) (out Restarts, ok bool) {
	ok = true
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, part)
		if err != nil || at.After(now.Add(clockSkew)) {
			ok = false
			continue
		}
		out = append(out, at.UTC().Truncate(time.Microsecond))
	}
	slices.SortFunc(out, time.Time.Compare)
	return out.newest(RememberedAtMost), ok
}

// String is what Parse reads.
func (r Restarts) String() string {
	parts := make([]string, len(r))
	for i, at := range r {
		parts[i] = at.UTC().Format(time.RFC3339Nano)
	}
	return strings.Join(parts, ",")
}

func (r Restarts) newest(n int) Restarts { return r[max(0, len(r)-n):] }

// Recent returns them, or none if the newest was asked for d ago or more: those that
// follow each other more closely are one attempt to heal one fault.
func (r Restarts) Recent(now time.Time, d time.Duration) Restarts {
	if len(r) > 0 && now.Sub(r[len(r)-1]) >= d {
		return nil
	}
	return r
}

// Since returns those at or after t.
func (r Restarts) Since(t time.Time) Restarts {
	for i, at := range r {
		if !at.Before(t) {
			return r[i:]
		}
	}
	return nil
}

// Has tells whether at is one of them.
func (r Restarts) Has(at time.Time) bool {
	return slices.ContainsFunc(r, func(t time.Time) bool { return t.Equal(at.Truncate(time.Microsecond)) })
}

// Add returns them and one more.
func (r Restarts) Add(at time.Time) Restarts {
	return append(slices.Clone(r), at.UTC().Truncate(time.Microsecond)).newest(RememberedAtMost)
}
