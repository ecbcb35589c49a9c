// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// promtoolTest returns a file of unit tests for promtool, of which each has the samples
// of one story, as they were scraped between two moments, and the alerts that it has to lead to.
func (s *server) promtoolTest(t *testing.T, begin, end time.Time, stories []story) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `# Made by "make record", not by hand: what a Prometheus has scraped of real operators on a
# kube-apiserver, at the defaults of all options, while faults were made. Series that were
# 0 all the time are left out, but for those of targets. The alerts that have to fire, and
# no others, are those of testing/prometheus/record_test.go.
rule_files: [freshness.rules.yaml, transport.rules.yaml, reconcile.rules.yaml, watchcanary.rules.yaml]
evaluation_interval: 1m

tests:
`)
	for _, st := range stories {
		fmt.Fprintf(&b, "\n# %s: %s.\n- name: recorded, %s\n  interval: %s\n  input_series:\n", st.job, st.about, st.job, s.every)
		for _, line := range s.inputSeries(t, st.job, begin, end) {
			fmt.Fprintf(&b, "  - %s\n", line)
		}
		fmt.Fprintf(&b, "  promql_expr_test:\n  - eval_time: %s\n    expr: group by (alertname, severity) (count_over_time(ALERTS{alertstate=\"firing\"}[1h]))\n",
			end.Sub(begin).Truncate(s.every))
		if len(st.alerts) == 0 {
			b.WriteString("    exp_samples: []\n")
			continue
		}
		b.WriteString("    exp_samples:\n")
		for _, alert := range st.alerts {
			name, severity, _ := strings.Cut(alert, " ")
			fmt.Fprintf(&b, "    - {labels: '{alertname=%q,severity=%q}', value: 1}\n", name, severity)
		}
	}
	return b.String()
}

// inputSeries returns what was scraped of a job as promtool wants it.
func (s *server) inputSeries(t *testing.T, job string, begin, end time.Time) []string {
	t.Helper()
	metrics := slices.Sorted(maps.Keys(usedMetrics(t, s)))
	steps := int(end.Sub(begin) / s.every)
	var out []string
	for _, name := range metrics {
		for _, sr := range s.mustQuery(t, fmt.Sprintf("%s{job=%q}[%ds] @ %d", name, job, int(end.Sub(begin).Seconds()), end.Unix())) {
			values, zero := gridded(t, sr.Values, begin, s.every, steps)
			if zero && name != "up" {
				continue
			}
			out = append(out, fmt.Sprintf("{series: '%s', values: '%s'}", notation(sr.Metric), values))
		}
	}
	slices.Sort(out)
	return out
}

// notation is a series as it is written in PromQL.
func notation(metric map[string]string) string {
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(metric)) {
		if name != "__name__" {
			labels = append(labels, fmt.Sprintf("%s=%q", name, metric[name]))
		}
	}
	return metric["__name__"] + "{" + strings.Join(labels, ",") + "}"
}

// gridded returns samples as promtool writes them, and whether all are 0. A step is as long
// as a scrape, and has the sample of the scrape within it; where there is none, the series
// has ended, as Prometheus sees it.
func gridded(t *testing.T, samples []point, begin time.Time, every time.Duration, steps int) (string, bool) {
	t.Helper()
	at := make([]string, steps)
	zero := true
	for _, p := range samples {
		i := int(p.at().Sub(begin) / every)
		if i < 0 || i >= steps {
			continue
		}
		v, err := strconv.ParseFloat(p.value(), 64)
		if err != nil {
			t.Fatal(err)
		}
		zero = zero && v == 0
		at[i] = strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	}
	last := ""
	for i, v := range at {
		switch {
		case v == "" && last != "" && last != "stale" && last != "_":
			at[i] = "stale"
		case v == "":
			at[i] = "_"
		}
		last = at[i]
	}
	var words []string
	for i := 0; i < steps; {
		n := 1
		for i+n < steps && at[i+n] == at[i] {
			n++
		}
		switch {
		case at[i] == "_": // _xN is N of them, VxN is one more than N
			words = append(words, fmt.Sprintf("_x%d", n))
		case n > 1:
			words = append(words, fmt.Sprintf("%sx%d", at[i], n-1))
		default:
			words = append(words, at[i])
		}
		i += n
	}
	return strings.Join(words, " "), zero
}
