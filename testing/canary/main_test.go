// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"os"
	"testing"

	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// TestMain plays a replica when a test asks for one, see replica_test.go.
func TestMain(m *testing.M) {
	freshtest.PrepareBubbles()
	if os.Getenv(replicaVariable) != "" {
		realplane.Quiet()
		if err := playReplica(os.Stdin, os.Stdout); err != nil {
			os.Exit(realplane.Fail(err))
		}
		return
	}
	realplane.Main(m, sharedPlane.Stop)
}
