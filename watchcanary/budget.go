// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"slices"
	"strings"
	"time"
)

// restarts is when restarts were asked for, as remembered on the Lease, the oldest
// first.
type restarts []time.Time

// annotation holds them: times as in RFC 3339, in UTC, to the second, separated by
// commas.
const annotation = "freshwatch.github.io/restarts"

const (
	// rememberedAtMost bounds the annotation, whoever has written it, and the budget.
	rememberedAtMost = 32
	// clockSkew is how far another replica's clock may be ahead.
	clockSkew = 5 * time.Minute
)

// parseRestarts reads the annotation as far as it can be read, and tells whether all of
// it could be. What somebody has written by hand must not keep a canary from starting,
// nor a time in the future a restart from ever being forgotten.
func parseRestarts(text string, now time.Time) (out restarts, ok bool) {
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
		out = append(out, at.UTC().Truncate(time.Second))
	}
	slices.SortFunc(out, time.Time.Compare)
	return out.newest(rememberedAtMost), ok
}

// String is what parseRestarts reads.
func (r restarts) String() string {
	parts := make([]string, len(r))
	for i, at := range r {
		parts[i] = at.UTC().Format(time.RFC3339)
	}
	return strings.Join(parts, ",")
}

func (r restarts) newest(n int) restarts { return r[max(0, len(r)-n):] }

// recent returns them, or none if the newest was asked for d ago or more: those that
// follow each other more closely are one attempt to heal one fault.
func (r restarts) recent(now time.Time, d time.Duration) restarts {
	if len(r) > 0 && now.Sub(r[len(r)-1]) >= d {
		return nil
	}
	return r
}

// has tells whether at is one of them.
func (r restarts) has(at time.Time) bool {
	return slices.ContainsFunc(r, func(t time.Time) bool { return t.Equal(at.Truncate(time.Second)) })
}

// add returns them and one more.
func (r restarts) add(at time.Time) restarts {
	return append(slices.Clone(r), at.UTC().Truncate(time.Second)).newest(rememberedAtMost)
}
