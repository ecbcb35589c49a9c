// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package realplane

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Quiet discards what informers and managers log of the faults that tests make. Like every
// change of klog's logger it has to come before anybody logs.
func Quiet() {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
}

// Main is for the TestMain of a suite whose tests share what stop stops: it runs them
// together, and looks for goroutines that are left.
func Main(m *testing.M, stop func() error, opts ...goleak.Option) {
	Quiet()
	MainLoud(m, stop, opts...)
}

// MainLoud is Main for a suite that has set the loggers.
func MainLoud(m *testing.M, stop func() error, opts ...goleak.Option) {
	goleak.VerifyTestMain(suite{m, stop}, opts...)
}

// suite runs the tests before the end of what they share.
type suite struct {
	*testing.M
	stop func() error
}

// Run implements goleak.TestingM.
func (s suite) Run() int {
	if err := WaitTogether(); err != nil {
		return Fail(err)
	}
	code := s.M.Run()
	if err := s.stop(); err != nil {
		return Fail(err)
	}
	return code
}

// Fail says what is wrong, and returns an exit code.
func Fail(err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
	return 1
}

// Test marks a test that needs a real server and runs beside the others of its kind.
func Test(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real kube-apiserver and a minute or more, which -short asks to leave out")
	}
	t.Parallel()
}
