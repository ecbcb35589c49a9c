// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A fleet of which no look is skipped lives through the same events, at the same
// moments, as one of which those are skipped at which nothing can happen.
func TestFleetSkipsNothing(t *testing.T) {
	const seed, informers, lasts = 7, 24, 4 * time.Hour / slowdown
	o := fleetOptions{informers: informers, lasts: lasts, perProcess: 4, harshness: 12, keep: true, lax: true, restless: true}
	looks, skipped := 0, 0
	for n := range informers {
		o.skips = false
		every := live(seed, n, o)
		o.skips = true
		some := live(seed, n, o)
		looks += every.tally.looks
		skipped += every.tally.looks - some.tally.looks
		if diff := cmp.Diff(every.notes, some.notes, cmp.AllowUnexported(note{})); diff != "" {
			t.Errorf("informer %d, without (-) and with (+) skipping:\n%s", n, diff)
		}
	}
	if skipped < looks/2 {
		t.Errorf("%d of %d looks skipped, want most", skipped, looks)
	}
}
