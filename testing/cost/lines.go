// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// line is one of the table, with a value for each process.
type line struct {
	name  string
	value func(*figures) string
}

// lines are those of the table.
func lines() []line {
	return []line{
		{"rate limit (requests/s, burst)", func(f *figures) string { return f.Limit }},
		{"load of the machine, before and after", func(f *figures) string { return f.LoadBefore + ", " + f.LoadAfter }},
		{"requests/s, without the user's", func(f *figures) string { return fmt.Sprintf("%.2f", f.requestsPerSecond()) }},
		{"  proofs/s", func(f *figures) string { return fmt.Sprintf("%.2f", f.ProofsPerSecond) }},
		{"  watches/s", func(f *figures) string { return fmt.Sprintf("%.2f", f.WatchesPerSecond) }},
		{"bytes/s", func(f *figures) string { return fmt.Sprintf("%.0f", f.BytesPerSecond) }},
		{"CPU, % of a core", func(f *figures) string { return fmt.Sprintf("%.2f", f.CPUPercent) }},
		{"heap, MB", func(f *figures) string { return fmt.Sprintf("%.1f", f.HeapMegabytes) }},
		{"stacks, MB", func(f *figures) string { return fmt.Sprintf("%.1f", f.StackMegabytes) }},
		{"resident, MB", func(f *figures) string { return fmt.Sprintf("%.1f", f.RSSMegabytes) }},
		{"goroutines", func(f *figures) string { return fmt.Sprint(f.Goroutines) }},
		{"proofs in the busiest second", func(f *figures) string { return fmt.Sprint(f.BusiestSecond) }},
		{"  against the mean", func(f *figures) string { return fmt.Sprintf("%.1f", f.spread()) }},
		{"  since the start", func(f *figures) string { return fmt.Sprint(f.BusiestSecondEver) }},
		{"largest staleness bound, s", func(f *figures) string { return fmt.Sprintf("%.1f", f.LargestBound) }},
		{"verdicts in the end", func(f *figures) string { return fmt.Sprint(f.Verdicts) }},
		{"changes of verdict", func(f *figures) string { return fmt.Sprint(f.VerdictChanges) }},
		{"cures, renewals since the start", func(f *figures) string { return fmt.Sprintf("%d, %d", f.Cures, f.Renewals) }},
		{"user's reads, ms: median, 99 %, most", func(f *figures) string {
			return fmt.Sprintf("%.0f, %.0f, %.0f", f.UserMedian, f.User99, f.UserMax)
		}},
		{"API server: requests/s", func(f *figures) string { return fmt.Sprintf("%.2f", f.ServerRequestsPerSecond) }},
		{"API server: CPU, % of a core", func(f *figures) string { return fmt.Sprintf("%.1f", f.ServerCPUPercent) }},
		{"API server: resident, MB", func(f *figures) string { return fmt.Sprintf("%.0f", f.ServerRSSMegabytes) }},
	}
}
