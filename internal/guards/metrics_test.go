// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

const metricsPage = "docs/metrics.md"

// TestMetricsPage holds docs/metrics.md equal to what the collectors say of themselves.
// Run it with -update to write the page.
func TestMetricsPage(t *testing.T) {
	page := metricsHead
	for _, s := range sections(t) {
		page += s.markdown(t)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(repoRoot, metricsPage), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(page, readFile(t, metricsPage)); diff != "" {
		t.Errorf("%s differs from what the collectors say (-want +got); bring it up to date with\n"+
			"go test ./internal/guards -run Metrics -update\n%s", metricsPage, diff)
	}
}

// TestMetricsPassPromlint lints what every collector exposes.
func TestMetricsPassPromlint(t *testing.T) {
	for _, c := range collectors(t) {
		problems, err := promlint.New(strings.NewReader(c.exposed)).Lint()
		if err != nil || len(problems) != 0 {
			t.Errorf("%s, %s: %v, %v", c.dir, strings.Join(c.types, " and "), problems, err)
		}
	}
}

const metricsHead = `# Metrics

Every series of the library. This page is generated from the collectors; CI fails where it differs from them. Names and
labels are covered by [VERSIONING](../VERSIONING.md). What to alert on is in [alerts](../alerts/README.md), and what to
do then in the [runbook](runbook.md).

Each type named below is a ` + "`prometheus.Collector`" + ` that registers itself nowhere: register it, as its package's
documentation shows. Counters and histograms begin at nought with each process.

| Label | Holds |
|---|---|
| ` + "`group`, `version`, `resource`" + ` | the kind: ` + "`apps`, `v1`, `deployments`" + `; the core group is empty |
| ` + "`namespace`" + ` | the one namespace that is watched or read; empty for all of them, and for kinds without. Where the scrape adds a ` + "`namespace`" + ` of its own, this one is called ` + "`exported_namespace`" + ` |
| ` + "`lease_namespace`, `lease`" + ` | the Lease that a canary writes |
| ` + "`controller`" + ` | the name that a deadline or a gate was given, usually the controller's |

The values of all other labels are listed with the series. Units: *seconds*, *count*, or *0 or 1*.
`

// markdown is the section as it stands on the page.
func (s section) markdown(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s: `%s`\n\n%s\n", s.dir, strings.Join(s.types, "`, `"), s.intro)
	common := s.commonLabels()
	if len(common) == 1 {
		fmt.Fprintf(&b, "\nAll have the label `%s`.\n", common[0])
	} else if len(common) > 1 {
		fmt.Fprintf(&b, "\nAll have the labels `%s`.\n", strings.Join(common, "`, `"))
	}
	b.WriteString("\n| Series | Type | Labels | Unit | Meaning |\n|---|---|---|---|---|\n")
	for _, one := range s.series {
		labels := slices.DeleteFunc(slices.Clone(one.labels), func(l string) bool { return slices.Contains(common, l) })
		for i, l := range labels {
			labels[i] = "`" + l + "`" + s.valuesOf(one, l)
		}
		writeRow(&b, "`"+one.name+"`", one.kind, strings.Join(labels, ", "), one.unit(), one.help)
	}
	for _, e := range s.enumerations {
		meanings, err := e.meanings(sourcesIn(t, s.dir))
		if err != nil {
			t.Errorf("label %s: %v", e.label, err)
			continue
		}
		fmt.Fprintf(&b, "\n| `%s` | Means |\n|---|---|\n", e.label)
		for i, value := range e.values {
			writeRow(&b, "`"+value+"`", meanings[i])
		}
	}
	return b.String()
}

// commonLabels are those that all series of a section have.
func (s section) commonLabels() []string {
	return slices.DeleteFunc(slices.Clone(s.series[0].labels), func(l string) bool {
		return !slices.Contains(openLabels(), l) || slices.ContainsFunc(s.series, func(one series) bool { return !slices.Contains(one.labels, l) })
	})
}

// valuesOf says what values a label can have. Where a type of the package has them, they
// are in a table of their own.
func (s section) valuesOf(one series, label string) string {
	switch {
	case slices.Contains(openLabels(), label):
		return ""
	case slices.ContainsFunc(s.enumerations, func(e enumeration) bool { return e.label == label }):
		return " (below)"
	}
	return " (`" + strings.Join(one.values[label], "`, `") + "`)"
}

// sourcesIn returns the contents of a package's files that are no tests.
func sourcesIn(t *testing.T, dir string) []string {
	t.Helper()
	var sources []string
	for _, name := range librarySource(t) {
		if path.Dir(name) == dir {
			sources = append(sources, readFile(t, name))
		}
	}
	return sources
}

func writeRow(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| ")
		if cell != "" {
			b.WriteString(strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
	}
	b.WriteString("|\n")
}
