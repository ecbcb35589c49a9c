// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"testing"

	"github.com/freshwatch/freshwatch/internal/exposition"
)

func TestMetricsGolden(t *testing.T) {
	e := newEvents(nil, target{}, Options{})
	for r := range e.counts {
		e.counts[r] = uint64(r) + 1 //nolint:gosec // small
	}
	exposition.Golden(t, "metrics.golden", e)
}
