// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
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
	fmt.Fprintln(os.Stderr, "generations:", err)
	return 1
}

// realServerTest marks a test that needs a real server and runs beside the others of its
// kind.
func realServerTest(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real kube-apiserver and a minute, which -short asks to leave out")
	}
	t.Parallel()
}
