// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"testing"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

func TestMain(m *testing.M) {
	realplane.Main(m, sharedPlane.Stop)
}
