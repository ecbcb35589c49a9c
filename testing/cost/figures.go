// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

// figures are what was measured of one process.
type figures struct {
	Program string `json:"program"` // stock or monitor
	Limit   string `json:"rate_limit"`
	// LoadBefore and LoadAfter are the machine's, over a minute.
	LoadBefore string `json:"load_before"`
	LoadAfter  string `json:"load_after"`

	Seconds          float64 `json:"seconds"`
	ProofsPerSecond  float64 `json:"proofs_per_s"`
	WatchesPerSecond float64 `json:"watches_per_s"`
	ListsPerSecond   float64 `json:"lists_per_s"`
	UserPerSecond    float64 `json:"user_requests_per_s"`
	BytesPerSecond   float64 `json:"bytes_per_s"`

	CPUPercent     float64 `json:"cpu_percent_of_a_core"`
	HeapMegabytes  float64 `json:"heap_mb"`
	StackMegabytes float64 `json:"stack_mb"`
	RSSMegabytes   float64 `json:"rss_mb"`
	Goroutines     int     `json:"goroutines"`

	// BusiestSecond is the largest number of proofs asked for within any second of
	// the time that was measured; Ever: since the process began.
	BusiestSecond     int    `json:"proofs_in_busiest_second"`
	BusiestSecondEver int    `json:"proofs_in_busiest_second_ever"`
	PerSecondOfMinute string `json:"proofs_per_second_of_the_minute"`

	Proven         int            `json:"proven"`
	Renewals       int            `json:"renewals_ever"`
	Cures          int            `json:"cures"`
	LargestBound   float64        `json:"largest_staleness_bound_s"`
	Verdicts       map[string]int `json:"verdicts_in_the_end,omitempty"`
	VerdictChanges map[string]int `json:"verdict_changes,omitempty"`

	UserReads  int     `json:"user_reads"`
	UserMedian float64 `json:"user_median_ms"`
	User99     float64 `json:"user_p99_ms"`
	UserMax    float64 `json:"user_max_ms"`

	// Of the API server, by its own account.
	ServerRequestsPerSecond float64 `json:"server_requests_per_s"`
	ServerCPUPercent        float64 `json:"server_cpu_percent_of_a_core"`
	ServerRSSMegabytes      float64 `json:"server_rss_mb"`
}

// requestsPerSecond are those that keep the cache and prove it.
func (f figures) requestsPerSecond() float64 {
	return f.ProofsPerSecond + f.WatchesPerSecond + f.ListsPerSecond
}

// spread is how much busier the busiest second is than the mean.
func (f figures) spread() float64 {
	if f.ProofsPerSecond == 0 {
		return 0
	}
	return float64(f.BusiestSecond) / f.ProofsPerSecond
}
