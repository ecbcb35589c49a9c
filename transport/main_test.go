// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
	clienttransport "k8s.io/client-go/transport"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(pluginFileEnv); file != "" {
		os.Exit(runPlugin(file, os.Stdout))
	}
	freshtest.PrepareBubbles()
	ctrl.SetLogger(klog.Background())
	// How often client-go looks for a new client certificate. Goroutines that end only when their transport is garbage
	// read the variable: setting it for one test, and back, would be a data race.
	clienttransport.CertCallbackRefreshDuration = 50 * time.Millisecond
	goleak.VerifyTestMain(m)
}
