// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// originalHandlers are client-go's, before they are made fit for bubbles.
var originalHandlers = utilruntime.ErrorHandlers

func TestMain(m *testing.M) {
	freshtest.PrepareBubbles()
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}
