// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/freshwatch/freshwatch/internal/snapshots"
)

// BenchmarkPage is what a page costs the server, its snapshot aside.
func BenchmarkPage(b *testing.B) {
	for _, n := range []int{6, 100, 1000} {
		for _, query := range []string{"", "?format=json"} {
			b.Run(strconv.Itoa(n)+query, func(b *testing.B) {
				h, err := New(Options{Recorder: still(snapshots.Many(n))})
				if err != nil {
					b.Fatal(err)
				}
				size := 0
				b.ReportAllocs()
				for b.Loop() {
					w := httptest.NewRecorder()
					h.ServeHTTP(w, httptest.NewRequest("GET", "/"+query, nil))
					size = w.Body.Len()
				}
				b.ReportMetric(float64(size), "B/page")
			})
		}
	}
}
