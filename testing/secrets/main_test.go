// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

const patience = 3 * time.Minute

var sharedPlane = realplane.Shared[*realplane.Plane]{Start: func(ctx context.Context) (*realplane.Plane, error) {
	return realplane.Start(ctx, controlplane.Options{})
}}

// logged is what the library logs in every verbosity, and what the manager and client-go
// log in theirs up to 3: from 4 on it is client-go that logs the URLs of its requests.
var (
	logged lines
	logger = funcr.New(logged.write, funcr.Options{Verbosity: 10, LogTimestamp: true})
	theirs = funcr.New(logged.write, funcr.Options{Verbosity: 3, LogTimestamp: true})
)

func TestMain(m *testing.M) {
	// Before anybody logs: klog reads its logger without a lock.
	klog.SetLogger(theirs.WithName("klog"))
	ctrl.SetLogger(theirs)
	realplane.MainLoud(m, sharedPlane.Stop)
}

// await waits until cond holds.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	if !poll.Until(t.Context(), patience, cond) {
		t.Fatalf("not within %v: %s", patience, what)
	}
}
