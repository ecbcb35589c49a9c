// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

const patience = 3 * time.Minute

var sharedPlane = realplane.Shared[*realplane.Plane]{Start: func(ctx context.Context) (*realplane.Plane, error) {
	return realplane.Start(ctx, controlplane.Options{})
}}

func TestMain(m *testing.M) { realplane.Main(m, sharedPlane.Stop) }

// await waits until cond holds.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	if !poll.Until(t.Context(), patience, cond) {
		t.Fatalf("not within %v: %s", patience, what)
	}
}
