// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package facade

import (
	"context"
	"testing"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

var sharedPlane = realplane.Shared[*realplane.Plane]{Start: func(ctx context.Context) (*realplane.Plane, error) {
	return realplane.Start(ctx, controlplane.Options{})
}}

func TestMain(m *testing.M) { realplane.Main(m, sharedPlane.Stop) }
