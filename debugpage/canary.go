// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

// canary is the canary as it is shown.
type canary struct {
	Face   face
	Reason string
	Rows   rows
	Chart  *chart
}

// chart is of round trips, over time, by the logarithm of what they took.
type chart struct {
	Title, Summary string
	// Line and Dots are paths in a box of 1000 times 100 that is stretched to its place,
	// and Grid the paths of the lines at the powers of ten, which Ticks name from the top.
	Line, Dots string
	Grid       []string
	Ticks      []string
	From, To   string
}

func canaryOf(s flightrecorder.Snapshot) *canary {
	c := s.Canary
	if c == nil {
		return nil
	}
	out := &canary{Face: faceOfCanary(c.State), Reason: shown(c.Reason, sentenceLimit)}
	r := &out.Rows
	r.add("State", text(c.State+" since "), when(since(s.Time, c.Since)))
	if c.Unseen > 0 {
		r.add("Oldest write not seen yet", text("sent "+ago(seconds(c.Unseen))))
	}
	if c.Restarts > 0 || c.Exhausted {
		said := many(c.Restarts, "restart was asked for", "restarts were asked for")
		if c.Exhausted {
			said += ", and no more are: they have not helped"
		}
		r.add("Restarts", text(said))
	}
	if len(c.Missing) > 0 {
		r.add("Missing rights on the Lease", text(strings.Join(c.Missing, ", ")))
	}
	out.Chart = chartOf(s.Time, c.Trips)
	return out
}

func chartOf(now time.Time, trips []flightrecorder.RoundTrip) *chart {
	if len(trips) == 0 {
		return nil
	}
	const least = 1e-4 // what is faster is not told apart
	took := make([]float64, len(trips))
	for i, t := range trips {
		took[i] = max(least, min(t.Seconds, 1e6))
		if math.IsNaN(t.Seconds) {
			took[i] = least
		}
	}
	low, high := decades(slices.Min(took), slices.Max(took))
	from, to := trips[0].At, trips[len(trips)-1].At
	c := &chart{Title: "Round trips of the canary", From: ago(now.Sub(from)), To: ago(now.Sub(to))}
	y := func(seconds float64) float64 {
		return 100 * (1 - (math.Log10(seconds)-low)/(high-low))
	}
	for d := high; d >= low; d-- {
		c.Grid = append(c.Grid, fmt.Sprintf("M0 %.1fH1000", y(math.Pow(10, d))))
		c.Ticks = append(c.Ticks, tick(d))
	}
	var line, dots strings.Builder
	for i, t := range trips {
		x := 1000.0
		if span := to.Sub(from); span > 0 {
			x = 1000 * float64(t.At.Sub(from)) / float64(span)
		}
		x = max(0, min(1000, x))
		fmt.Fprintf(&line, "%c%.1f %.1f", "ML"[min(i, 1)], x, y(took[i]))
		fmt.Fprintf(&dots, "M%.1f %.1fh0", x, y(took[i]))
	}
	c.Line, c.Dots = line.String(), dots.String()
	c.Summary = summary(now, trips)
	return c
}

// decades returns the powers of ten around what was measured, two at least.
func decades(least, most float64) (low, high float64) {
	low, high = math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))
	if high-low < 2 {
		low = high - 2
	}
	return low, high
}

// tick names a power of ten, of seconds.
func tick(power float64) string {
	if power < -3 {
		return fmt.Sprintf("%g%sms", math.Pow(10, power+3), space)
	}
	return long(time.Duration(math.Round(math.Pow(10, power+3))) * time.Millisecond)
}

// summary says in words what the chart shows.
func summary(now time.Time, trips []flightrecorder.RoundTrip) string {
	sorted := slices.SortedFunc(slices.Values(trips), func(a, b flightrecorder.RoundTrip) int {
		if a.Seconds < b.Seconds {
			return -1
		}
		return 1
	})
	last, slowest := trips[len(trips)-1], sorted[len(sorted)-1]
	said := fmt.Sprintf("The newest took %s, %s.", long(seconds(last.Seconds)), ago(now.Sub(last.At)))
	if len(trips) > 1 {
		said += fmt.Sprintf(" Of %d since %s: median %s, slowest %s, %s.", len(trips), ago(now.Sub(trips[0].At)),
			long(seconds(sorted[len(sorted)/2].Seconds)), long(seconds(slowest.Seconds)), ago(now.Sub(slowest.At)))
	}
	return said
}
