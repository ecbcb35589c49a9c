// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarkdown(t *testing.T) {
	got := markdown([]result{
		{ID: "1", Fault: "a | b", Verdict: "Fresh", CuredBy: "resume", Detected: new(1.25), Healed: new(2.0), Requests: 3, Expected: "x", OK: true},
		{ID: "N1", Fault: "c", Verdict: "Stalled", Relisted: 20, LivenessFailed: true, StockHealed: new(4.0), Expected: "y", complaints: []string{"it was not", "it should"}},
	})
	want := `| id | fault | verdict | cured by | detected, s | healed, s | requests | relisted objects | liveness failed | stock healed, s | expected | ok |
|---|---|---|---|---|---|---|---|---|---|---|---|
| 1 | a \| b | Fresh | resume | 1.2 | 2.0 | 3 | 0 | no | never | x | yes |
| N1 | c | Stalled | - | never | never | 0 | 20 | yes | 4.0 | y | no |

N1 is not ok: it was not; it should.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
