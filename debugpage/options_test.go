// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"strings"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/internal/snapshots"
)

func TestOptions(t *testing.T) {
	recorder := still(snapshots.Empty())
	for _, tt := range []struct {
		name string
		opts Options
		want string
	}{
		{"least", Options{Recorder: recorder}, ""},
		{"all", Options{Recorder: recorder, Title: "x", Refresh: time.Second, Links: []Link{{"a", "https://example.com"}, {"b", "../metrics"}, {"c", "/x?y=z#w"}}}, ""},
		{"longest", Options{Recorder: recorder, Title: strings.Repeat("ü", 80), Refresh: time.Hour}, ""},
		{"no recorder, typed", Options{Recorder: (*flightrecorder.Recorder)(nil)}, "debugpage: Options.Recorder is nil, but must be set: it is what is shown"},
		{"no recorder", Options{}, "debugpage: Options.Recorder is nil, but must be set: it is what is shown"},
		{"title", Options{Recorder: recorder, Title: strings.Repeat("x", 81)}, "debugpage: Options.Title has 81 characters, but must have at most 80 (it has to fit a tab and a phone)"},
		{"refresh too often", Options{Recorder: recorder, Refresh: time.Second - 1}, "debugpage: Options.Refresh is 999.999999ms, but must be at least 1s and at most 1h0m0s"},
		{"refresh too rarely", Options{Recorder: recorder, Refresh: time.Hour + 1}, "debugpage: Options.Refresh is 1h0m0.000000001s, but must be at least 1s and at most 1h0m0s"},
		{"refresh backwards", Options{Recorder: recorder, Refresh: -1}, "debugpage: Options.Refresh is -1ns, but must be at least 1s and at most 1h0m0s"},
		{"link without text", Options{Recorder: recorder, Links: []Link{{" ", "/"}}}, `debugpage: Options.Links[0].Text is " ", but must be set`},
		{"link to nowhere", Options{Recorder: recorder, Links: []Link{{"a", "/"}, {"b", ""}}}, `debugpage: Options.Links[1].URL is "", but must be one of http or https, or relative to the page`},
		{"link that runs", Options{Recorder: recorder, Links: []Link{{"a", "JavaScript:alert(1)"}}}, `debugpage: Options.Links[0].URL is "JavaScript:alert(1)", but must be one of http or https, or relative to the page`},
		{"link with a password", Options{Recorder: recorder, Links: []Link{{"a", "https://u:p@example.com"}}}, "debugpage: Options.Links[0].URL holds a user or a password, but must not: everybody who sees the page sees it"},
		{"two at once", Options{Refresh: -1}, "debugpage: Options.Recorder is nil, but must be set: it is what is shown\ndebugpage: Options.Refresh is -1ns, but must be at least 1s and at most 1h0m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if _, err := New(tt.opts); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
