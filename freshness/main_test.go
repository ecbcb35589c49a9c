// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func TestMain(m *testing.M) {
	freshtest.PrepareBubbles()
	goleak.VerifyTestMain(m)
}
