// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// patience bounds what happens at once on an idle machine.
const patience = time.Minute

// sharedPlane serves all tests: each has a namespace and proxies of its own.
var sharedPlane = realplane.Shared[*realplane.Plane]{Start: func(ctx context.Context) (*realplane.Plane, error) {
	return realplane.Start(ctx, controlplane.Options{})
}}

// TestMain plays a replica when a test asks for one, see replica_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(replicaVariable) != "" {
		realplane.Quiet()
		if err := playReplica(os.Stdin, os.Stdout); err != nil {
			os.Exit(realplane.Fail(err))
		}
		return
	}
	realplane.Main(m, sharedPlane.Stop)
}

// await waits until cond holds.
func await(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	if !poll.Until(t.Context(), limit, cond) {
		t.Fatalf("not within %v: %s", limit, what)
	}
}

// holds fails unless cond holds for all of d.
func holds(t *testing.T, d time.Duration, what string, cond func() bool) {
	t.Helper()
	begin := time.Now()
	if poll.Until(t.Context(), d, func() bool { return !cond() }) {
		t.Fatalf("after %v not any more: %s", time.Since(begin).Round(time.Millisecond), what)
	}
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
