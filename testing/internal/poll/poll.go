// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package poll waits for what real servers do.
package poll

import (
	"context"
	"time"
)

// Until asks cond every 100 ms until it holds, and tells whether it did within limit.
// In a synctest bubble these are the bubble's times.
func Until(ctx context.Context, limit time.Duration, cond func() bool) bool {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !cond() {
		select {
		case <-ticker.C:
		case <-timeout.C:
			return cond()
		case <-ctx.Done():
			return false
		}
	}
	return true
}
