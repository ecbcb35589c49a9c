// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// usage is what a process has used of the machine.
type usage struct {
	cpu        time.Duration // so far
	goroutines int
}

func takeUsage() usage { return usage{cpu: cpuTime(), goroutines: runtime.NumGoroutine()} }

// add completes the figures. The garbage collection that it takes to see what is
// really held comes after the time that is measured.
func (f *figures) add(before, after usage) {
	f.CPUPercent = 100 * (after.cpu - before.cpu).Seconds() / f.Seconds
	f.Goroutines = after.goroutines
	f.RSSMegabytes = residentMegabytes()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.HeapMegabytes = float64(m.HeapAlloc) / 1e6
	f.StackMegabytes = float64(m.StackInuse) / 1e6
}

// residentMegabytes is 0 where the system does not say.
func residentMegabytes() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 64)
			return kb * 1024 / 1e6
		}
	}
	return 0
}

// loadAverage is the machine's over the last minute, or "" where it does not say.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
