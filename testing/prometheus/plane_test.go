// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"net"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// patience bounds what happens at once on an idle machine.
const patience = 2 * time.Minute

// startPlane starts a control plane until the test ends.
func startPlane(t *testing.T) *realplane.Plane {
	t.Helper()
	p, err := realplane.Start(t.Context(), controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// await waits until cond holds.
func await(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	if !poll.Until(t.Context(), limit, cond) {
		t.Fatalf("not within %v: %s", limit, what)
	}
}

// freeAddress returns an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
