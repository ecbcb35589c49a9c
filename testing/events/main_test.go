// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// patience bounds what happens at once on an idle machine.
const patience = 2 * time.Minute

// sharedPlane serves all tests: each has namespaces and proxies of its own.
var sharedPlane = realplane.Shared[*realplane.Plane]{Start: func(ctx context.Context) (*realplane.Plane, error) {
	return realplane.Start(ctx, controlplane.Options{})
}}

func TestMain(m *testing.M) {
	realplane.Main(m, sharedPlane.Stop)
}

// await waits until cond holds, and returns how long that took.
func await(t *testing.T, limit time.Duration, what string, cond func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	if !poll.Until(t.Context(), limit, cond) {
		t.Fatalf("not within %v: %s", limit, what)
	}
	return time.Since(begin)
}

// pass lets real time pass.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	poll.Until(t.Context(), d, func() bool { return false })
}

// figures logs what a scenario has measured, durations in seconds.
func figures(t *testing.T, of map[string]any) {
	t.Helper()
	for k, v := range of {
		if d, ok := v.(time.Duration); ok {
			of[k] = float64(d.Round(time.Millisecond)) / float64(time.Second)
		}
	}
	of["scenario"] = t.Name()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
}
