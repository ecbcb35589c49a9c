// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/internal/snapshots"
)

func TestChart(t *testing.T) {
	now := snapshots.Now()
	trip := func(ago time.Duration, seconds float64) flightrecorder.RoundTrip {
		return flightrecorder.RoundTrip{At: now.Add(-ago), Seconds: seconds}
	}
	for _, tt := range []struct {
		name    string
		trips   []flightrecorder.RoundTrip
		ticks   []string
		line    string
		summary string
	}{
		{name: "none"},
		{"one", []flightrecorder.RoundTrip{trip(time.Minute, .01)}, []string{"10 ms", "1 ms", "0.1 ms"}, "M1000.0 0.0", "The newest took 10 ms, 1 min ago."},
		{
			"a power of ten apart", []flightrecorder.RoundTrip{trip(2*time.Minute, .01), trip(time.Minute, .1), trip(0, 1)}, []string{"1 s", "100 ms", "10 ms"},
			"M0.0 100.0L500.0 50.0L1000.0 0.0", "The newest took 1 s, just now. Of 3 since 2 min ago: median 100 ms, slowest 1 s, just now.",
		},
		{
			"slow", []flightrecorder.RoundTrip{trip(3*time.Minute, 95), trip(time.Minute, .02)}, []string{"1 min 40 s", "10 s", "1 s", "100 ms", "10 ms"},
			"M0.0 0.6L1000.0 92.5", "The newest took 20 ms, 1 min ago. Of 2 since 3 min ago: median 1 min 35 s, slowest 1 min 35 s, 3 min ago.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := chartOf(now, tt.trips)
			if c == nil {
				if tt.trips != nil {
					t.Fatal("no chart")
				}
				return
			}
			plain := func(s string) string { return strings.ReplaceAll(s, space, " ") }
			var ticks []string
			for _, tick := range c.Ticks {
				ticks = append(ticks, plain(tick))
			}
			if diff := cmp.Diff(tt.ticks, ticks); diff != "" {
				t.Errorf("ticks (-want +got):\n%s", diff)
			}
			if c.Line != tt.line || plain(c.Summary) != tt.summary {
				t.Errorf("%s\n%s\nwant\n%s\n%s", c.Line, plain(c.Summary), tt.line, tt.summary)
			}
		})
	}
}

// TestChartOfAnything: whatever was measured, the line stays in its box.
func TestChartOfAnything(t *testing.T) {
	now := snapshots.Now()
	var trips []flightrecorder.RoundTrip
	for i, s := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-9, 1e12, .5} {
		trips = append(trips, flightrecorder.RoundTrip{At: now.Add(time.Duration(i%3) * time.Hour), Seconds: s})
	}
	c := chartOf(now, trips)
	for _, n := range regexp.MustCompile(`[-\w.]+`).FindAllString(strings.NewReplacer("M", " ", "L", " ").Replace(c.Line), -1) {
		if v, err := strconv.ParseFloat(n, 64); err != nil || v < 0 || v > 1000 {
			t.Errorf("%s is out of the box: %s", n, c.Line)
		}
	}
	for _, n := range regexp.MustCompile(` ([\d.]+)H`).FindAllStringSubmatch(strings.Join(c.Grid, " "), -1) {
		if v, err := strconv.ParseFloat(n[1], 64); err != nil || v < 0 || v > 100 {
			t.Errorf("%s is out of the box: %s", n[1], c.Grid)
		}
	}
}
