// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// TestMain plays the other process when a test asks for one, see helper_test.go
// and transport_helpers_podprocess_test.go.
func TestMain(m *testing.M) {
	// What informers have to say about the faults is no news here.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	freshtest.PrepareBubbles()
	if job := os.Getenv(helperJob); job != "" {
		playHelper(job)
		return
	}
	if job := os.Getenv(podJob); job != "" {
		if err := playPod(job); err != nil {
			os.Exit(fail(err))
		}
		return
	}
	// controller-runtime 0.25 filters the watches of metadata-only informers
	// (newGVKFixupWatcher); one that has an event in its hand when the informer stops
	// offers it for ever.
	filter := goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop")
	goleak.VerifyTestMain(suite{m}, filter)
}

// suite runs the tests between the start and the end of what they share.
type suite struct{ *testing.M }

// Run implements goleak.TestingM.
func (s suite) Run() int {
	if err := realplane.WaitTogether(); err != nil {
		return fail(err)
	}
	code := s.M.Run()
	if err := errors.Join(sharedPlane.Stop(), results.writeFile(os.Getenv("FRESHWATCH_E2E_JSON"))); err != nil {
		return fail(err)
	}
	return code
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}

// realServerTest marks a test that needs a real server and runs beside the others of its
// kind.
func realServerTest(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real kube-apiserver and minutes, which -short asks to leave out")
	}
	t.Parallel()
	if strings.HasPrefix(t.Name(), "TestTransport") {
		transportSlots <- struct{}{}
		t.Cleanup(func() { <-transportSlots })
	}
}

// transportSlots bounds how many of the transport's tests run at once: unlike the
// others, which wait for bookmarks, they move thousands of objects, and proofs have
// to keep their time beside them.
var transportSlots = make(chan struct{}, 8)
