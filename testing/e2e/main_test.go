// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// TestMain plays the other process when a test asks for one, see helper_test.go
// and transport_helpers_podprocess_test.go.
func TestMain(m *testing.M) {
	realplane.Quiet()
	freshtest.PrepareBubbles()
	if job := os.Getenv(helperJob); job != "" {
		playHelper(job)
		return
	}
	if job := os.Getenv(podJob); job != "" {
		if err := playPod(job); err != nil {
			os.Exit(realplane.Fail(err))
		}
		return
	}
	// controller-runtime 0.25 filters the watches of metadata-only informers
	// (newGVKFixupWatcher); one that has an event in its hand when the informer stops
	// offers it for ever.
	filter := goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop")
	realplane.Main(m, func() error {
		return errors.Join(sharedPlane.Stop(), results.writeFile(os.Getenv("FRESHWATCH_E2E_JSON")))
	}, filter)
}

// realServerTest marks a test that needs a real server and runs beside the others of its
// kind.
func realServerTest(t *testing.T) {
	t.Helper()
	realplane.Test(t)
	if strings.HasPrefix(t.Name(), "TestTransport") {
		transportSlots <- struct{}{}
		t.Cleanup(func() { <-transportSlots })
	}
}

// transportSlots bounds how many of the transport's tests run at once: unlike the
// others, which wait for bookmarks, they move thousands of objects, and proofs have
// to keep their time beside them.
var transportSlots = make(chan struct{}, 8)
