// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"fmt"
	"math"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

// bar is a staleness bound against its limit, which stands at three quarters of the
// width, so that there is room beyond.
type bar struct {
	Known bool
	// Width is in percent. Value and Limit are in seconds, Value no more than Limit, as a
	// meter wants it; Text says what it really is.
	Width        string
	Value, Limit string
	Text         string
}

const limitAt = 75 // percent of the width; page.html knows it too

func barOf(in flightrecorder.Informer) bar {
	if in.FreshAsOf.IsZero() {
		return bar{Text: "not proven yet"}
	}
	bound := short(seconds(in.Bound))
	if !(in.Limit > 0) {
		return bar{Text: bound}
	}
	return bar{
		Known: true, Width: fmt.Sprintf("%.1f", min(100, max(0, in.Bound/in.Limit*limitAt))),
		Value: fmt.Sprintf("%.0f", math.Floor(min(in.Bound, in.Limit))), Limit: fmt.Sprintf("%.0f", in.Limit),
		Text: bound + " of " + short(seconds(in.Limit)),
	}
}

// short writes a bound and its limit in one unit, so that they can be compared.
func short(d time.Duration) string {
	if d < 10*time.Minute {
		return fmt.Sprintf("%.0f%ss", math.Floor(d.Seconds()), space)
	}
	return long(d.Truncate(time.Second))
}
