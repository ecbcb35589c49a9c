// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

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
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	if os.Getenv(replicaVariable) != "" {
		if err := playReplica(os.Stdin, os.Stdout); err != nil {
			os.Exit(fail(err))
		}
		return
	}
	goleak.VerifyTestMain(suite{m})
}

// suite runs the tests before the end of what they share.
type suite struct{ *testing.M }

// Run implements goleak.TestingM.
func (s suite) Run() int {
	if err := realplane.WaitTogether(); err != nil {
		return fail(err)
	}
	code := s.M.Run()
	if err := sharedPlane.Stop(); err != nil {
		return fail(err)
	}
	return code
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "reconciles:", err)
	return 1
}

// realServerTest marks a test that needs a real server and runs beside the others of its
// kind.
func realServerTest(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real kube-apiserver, which -short asks to leave out")
	}
	t.Parallel()
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
