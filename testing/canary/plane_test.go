// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"context"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// patience bounds what a real server does at once on an idle machine.
const patience = 2 * time.Minute

func startPlane(ctx context.Context) (*realplane.Plane, error) {
	return realplane.Start(ctx, controlplane.Options{})
}

func ownPlane(t *testing.T) *realplane.Plane {
	t.Helper()
	return realplane.Own(t, startPlane)
}

// sharedPlane is for the tests that do not disturb each other.
var sharedPlane = realplane.Shared[*realplane.Plane]{Start: startPlane}
