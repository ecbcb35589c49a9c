// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// scenariosWithoutProgress take the place of the table where the datastore does not
// say how far it is. There the watch cache of a quiet kind stays behind what
// consistent LISTs find whether anything is wrong or not, and the guard has to say
// that it cannot tell. A change of the kind moves that cache, and then a stream that
// does not bring it is renewed; and what is compared is proven by that.
var scenariosWithoutProgress = []scenario{
	{
		name:    "healthy and quiet, no progress",
		kind:    custom("Quiet"),
		options: withoutAudits,
		quiet:   true,
		hold:    210 * time.Second,
		want:    unprovable(expectation{}),
	},
	{
		name:    "healthy and quiet, no progress, compared",
		kind:    custom("Compared"),
		options: freshness.Options{Audit: freshness.AuditOptions{Every: time.Minute}},
		quiet:   true,
		hold:    210 * time.Second,
		want:    unprovable(expectation{provenEvery: 100 * time.Second}),
	},
	{
		name:    "silent stream, no progress",
		kind:    custom("Silent"),
		options: withoutAudits,
		fault:   backend.silence,
		want:    unprovable(expectation{edit: inTime, stockBlind: true}),
	},
	{
		name:    "frozen watch cache, no progress",
		kind:    custom("Frozen"),
		options: withoutAudits,
		fault:   backend.freezeWatchCache,
		hold:    time.Minute,
		want:    unprovable(expectation{edit: afterwards, stockBlind: true}),
	},
}

// unprovable is what has to come of informers of which nothing can be proven while
// their kind is quiet: nobody is blamed.
func unprovable(want expectation) expectation {
	want.unproven = true
	want.reaches = []freshness.Verdict{freshness.Blind}
	want.never = []freshness.Verdict{freshness.Stalled, freshness.ControlPlaneStalled, freshness.Unreachable}
	return want
}
