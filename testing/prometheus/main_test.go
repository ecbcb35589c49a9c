// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// TestMain plays an operator when a test asks for one, see operator_test.go.
func TestMain(m *testing.M) {
	realplane.Quiet()
	if os.Getenv(operatorVariable) != "" {
		if err := playOperator(os.Stdin, os.Stdout); err != nil {
			os.Exit(realplane.Fail(err))
		}
		return
	}
	goleak.VerifyTestMain(m)
}
