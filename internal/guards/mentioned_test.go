// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMetricsThatAreNamedExist finds series that a document, a rule or a dashboard names
// and no collector has, such as one that was renamed.
func TestMetricsThatAreNamedExist(t *testing.T) {
	var known []series
	for _, s := range sections(t) {
		known = append(known, s.series...)
	}
	for _, name := range repoFiles(t) {
		if !slices.Contains([]string{".md", ".yaml", ".yml", ".json"}, path.Ext(name)) {
			continue
		}
		for _, unknown := range unknownSeries(readFile(t, name), known) {
			t.Errorf("%s names %s, which no collector has", name, unknown)
		}
	}
}

// namedSeries leaves out what recording rules make, in whose names a colon comes before.
var namedSeries = regexp.MustCompile(`(?:^|[^\w:])(freshwatch_[a-z_]*[a-z])\b`)

// unknownSeries returns the names in a text that are none of the known series, nor what a
// histogram consists of.
func unknownSeries(text string, known []series) []string {
	var unknown []string
	for _, m := range namedSeries.FindAllStringSubmatch(text, -1) {
		name := m[1]
		if !slices.ContainsFunc(known, func(s series) bool {
			suffix, found := strings.CutPrefix(name, s.name)
			return found && (suffix == "" || s.kind == "histogram" && slices.Contains([]string{"_bucket", "_count", "_sum"}, suffix))
		}) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func TestUnknownSeries(t *testing.T) {
	known := []series{{name: "freshwatch_ends_total", kind: "counter"}, {name: "freshwatch_trip_seconds", kind: "histogram"}}
	got := unknownSeries("`freshwatch_ends_total`, increase(freshwatch_trip_seconds_count[5m]), freshwatch_trip_seconds,\n"+
		"freshwatch_ends_total_count freshwatch_end_total freshwatch_trip_secondss job:freshwatch_trips:rate5m", known)
	want := []string{"freshwatch_ends_total_count", "freshwatch_end_total", "freshwatch_trip_secondss"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}
