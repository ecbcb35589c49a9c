// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long a test waits for what must happen. It is not a measure: a slow machine only waits longer.
const patience = 20 * time.Second

// glance is how long a test looks for what must not happen. Longer finds more, shorter is never wrong.
const glance = 150 * time.Millisecond

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// patient returns a context that ends when patience does.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx := patient(t)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited %v in vain for: %s", patience, what)
		case <-tick.C:
		}
	}
}

// elapse lets time go by. It is for faults that are about time going by, never to wait for something.
func elapse(d time.Duration) { <-time.After(d) }
