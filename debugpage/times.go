// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"fmt"
	"math"
	"time"
)

// moment is a point in time as it is shown: how long ago, with when exactly.
type moment struct {
	Text string // "12 s ago"
	ISO  string // for machines; empty: there was none
	Full string // for who points at it
}

// momentOf returns t with a text of its own.
func momentOf(t time.Time, text string) moment {
	if t.IsZero() {
		return moment{Text: text}
	}
	stamp := t.UTC().Format("2006-01-02T15:04:05Z")
	return moment{Text: text, ISO: stamp, Full: stamp[:10] + " " + stamp[11:19] + " UTC"}
}

// since returns t as so long before now.
func since(now, t time.Time) moment {
	if t.IsZero() {
		return moment{Text: "never"}
	}
	return momentOf(t, ago(now.Sub(t)))
}

// at returns t by the clock.
func at(t time.Time) moment { return momentOf(t, t.UTC().Format("15:04:05")+space+"UTC") }

func ago(d time.Duration) string {
	if d < time.Second {
		return "just now" // or a moment ahead: two clocks were read
	}
	return long(d.Truncate(time.Second)) + " ago"
}

// long writes a duration for a person, with two units at most.
func long(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return "0" + space + "s"
	case d < time.Second:
		return fmt.Sprintf("%d%sms", d.Round(time.Millisecond).Milliseconds(), space)
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f%ss", d.Seconds(), space)
	case d < time.Minute:
		return fmt.Sprintf("%.0f%ss", math.Floor(d.Seconds()), space)
	case d < time.Hour:
		return two(d, time.Minute, "min", time.Second, "s")
	case d < day:
		return two(d, time.Hour, "h", time.Minute, "min")
	}
	return two(d, day, "d", time.Hour, "h")
}

// two writes a duration in a unit and a smaller one.
func two(d, large time.Duration, name string, small time.Duration, smaller string) string {
	out := fmt.Sprintf("%d%s%s", d/large, space, name)
	if rest := d % large / small; rest > 0 {
		out += fmt.Sprintf("%s%d%s%s", space, rest, space, smaller)
	}
	return out
}

// space keeps a number and its unit on one line.
const space = "\u00a0"

// seconds turns what a snapshot holds in seconds into a duration.
func seconds(s float64) time.Duration {
	const most = 200 * 365 * 24 * 3600
	if math.IsNaN(s) {
		return 0
	}
	return time.Duration(math.Max(-most, math.Min(most, s)) * float64(time.Second))
}
