// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// series is one series, as its collector describes and exposes it.
type series struct {
	name, help, kind string
	labels           []string            // constant ones first
	values           map[string][]string // of labels, sorted
	buckets          string              // the upper bound of the last but one
}

// section is a collector with its series.
type section struct {
	collected

	series []series
}

// sections are all of docs/metrics.md.
func sections(t *testing.T) []section {
	t.Helper()
	var out []section
	for _, c := range collectors(t) {
		all, err := seriesOf(c)
		if err != nil {
			t.Fatalf("%s, %s: %v", c.dir, strings.Join(c.types, " and "), err)
		}
		out = append(out, section{c, all})
	}
	return out
}

// seriesOf returns the series of a collector in the order in which it describes them. It
// fails unless each is exposed, nothing else is, and all values of the enumerations are.
func seriesOf(c collected) ([]series, error) {
	var all []series
	exposed := parseExposition(c.exposed)
	for _, collector := range c.described {
		descs := make(chan *prometheus.Desc)
		go func() {
			collector.Describe(descs)
			close(descs)
		}()
		for desc := range descs {
			s, err := parseDesc(desc)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(all, func(other series) bool { return other.name == s.name }) {
				continue // of another collector of this section
			}
			all = append(all, s)
		}
	}
	var problems []error
	for i := range all {
		s := &all[i]
		e, found := exposed[s.name]
		if !found {
			problems = append(problems, fmt.Errorf("%s is described, and not exposed", s.name))
			continue
		}
		delete(exposed, s.name)
		s.kind, s.values, s.buckets = e.kind, e.values, e.buckets
		if e.help != s.help {
			problems = append(problems, fmt.Errorf("%s is described with %q, and exposed with %q", s.name, s.help, e.help))
		}
		if got, want := slices.Sorted(maps.Keys(e.values)), sorted(s.labels); !slices.Equal(got, want) {
			problems = append(problems, fmt.Errorf("%s is described with labels %q, and exposed with %q", s.name, want, got))
		}
		for _, of := range c.enumerations {
			if got, has := e.values[of.label]; has && !slices.Equal(got, sorted(of.values)) {
				problems = append(problems, fmt.Errorf("%s: the values of %s are %q, and %q are exposed", s.name, of.label, sorted(of.values), got))
			}
		}
	}
	for name := range exposed {
		problems = append(problems, fmt.Errorf("%s is exposed, and not described", name))
	}
	return all, errors.Join(problems...)
}

// unit follows from the name, and for gauges that are 0 or 1 from the HELP text, which
// begins with the 1 by custom of this repository.
func (s series) unit() string {
	unit := "count"
	switch {
	case strings.HasSuffix(strings.TrimSuffix(s.name, "_total"), "_seconds"):
		unit = "seconds"
	case strings.HasPrefix(s.help, "1 "):
		unit = "0 or 1"
	}
	if s.kind == "histogram" {
		unit += ", in buckets up to " + s.buckets
	}
	return unit
}

// openLabels are those whose values are names of something in the cluster, or given by
// the program. The values of others are an enumeration.
func openLabels() []string {
	return []string{"group", "version", "resource", "namespace", "lease_namespace", "lease", "controller"}
}

// A Desc tells what it is by its text only.
var (
	descText  = regexp.MustCompile(`^Desc\{fqName: ("(?:[^"\\]|\\.)*"), help: ("(?:[^"\\]|\\.)*"),.* constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)
	labelPair = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
)

func parseDesc(desc *prometheus.Desc) (series, error) {
	m := descText.FindStringSubmatch(desc.String())
	if m == nil {
		return series{}, fmt.Errorf("this guard does not understand %s", desc)
	}
	name, nameErr := strconv.Unquote(m[1])
	help, helpErr := strconv.Unquote(m[2])
	s := series{name: name, help: help}
	for _, pair := range labelPair.FindAllStringSubmatch(m[3], -1) {
		s.labels = append(s.labels, pair[1])
	}
	slices.SortFunc(s.labels, func(a, b string) int { return slices.Index(openLabels(), a) - slices.Index(openLabels(), b) })
	if m[4] != "" {
		s.labels = append(s.labels, strings.Split(m[4], ",")...)
	}
	return s, errors.Join(nameErr, helpErr)
}

// parseExposition reads a scrape in the text format, of which promlint makes sure that it
// is one.
func parseExposition(text string) map[string]series {
	out := map[string]series{}
	var now series
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch fields := strings.SplitN(line, " ", 4); {
		case strings.HasPrefix(line, "# HELP "):
			now = series{name: fields[2], help: strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(fields[3]), values: map[string][]string{}}
		case strings.HasPrefix(line, "# TYPE "):
			now.kind = fields[3]
			out[now.name] = now
		default:
			for _, pair := range labelPair.FindAllStringSubmatch(line, -1) {
				now.observe(pair[1], pair[2])
			}
			out[now.name] = now
		}
	}
	return out
}

// observe takes note of a value of a label.
func (s *series) observe(label, value string) {
	if label == "le" {
		if value != "+Inf" {
			s.buckets = value // they come in ascending order
		}
		return
	}
	if at, found := slices.BinarySearch(s.values[label], value); !found {
		s.values[label] = slices.Insert(s.values[label], at, value)
	}
}

// TestSeriesOf breaks the agreement between what is described and what is exposed.
func TestSeriesOf(t *testing.T) {
	vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "freshwatch_mood", Help: "1 for the mood, 0 for the others.", ConstLabels: prometheus.Labels{"lease": "l"}}, []string{"mood"})
	const head = "# HELP freshwatch_mood 1 for the mood, 0 for the others.\n# TYPE freshwatch_mood gauge\n"
	const whole = head + "freshwatch_mood{lease=\"l\",mood=\"good\"} 1\nfreshwatch_mood{lease=\"l\",mood=\"bad\"} 0\n"
	for _, tc := range []struct {
		name, exposed, want string
	}{
		{"agreement", whole, ""},
		{"a series that is never exposed", "", "freshwatch_mood is described, and not exposed"},
		{"one that is not described", whole + "# HELP freshwatch_more M.\n# TYPE freshwatch_more counter\nfreshwatch_more 1\n", "freshwatch_more is exposed, and not described"},
		{"another HELP", strings.ReplaceAll(whole, "1 for the", "The"), `freshwatch_mood is described with "1 for the mood, 0 for the others.", and exposed with "The mood, 0 for the others."`},
		{"another label", strings.ReplaceAll(whole, "mood=", "humour="), `freshwatch_mood is described with labels ["lease" "mood"], and exposed with ["humour" "lease"]`},
		{"a value that is missing", head + "freshwatch_mood{lease=\"l\",mood=\"bad\"} 0\n", `freshwatch_mood: the values of mood are ["bad" "good"], and ["bad"] are exposed`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := seriesOf(collected{described: []prometheus.Collector{vec}, exposed: tc.exposed, enumerations: []enumeration{{"mood", "Mood", []string{"good", "bad"}}}})
			if tc.want != "" {
				if err == nil || err.Error() != tc.want {
					t.Fatalf("error %v, want %s", err, tc.want)
				}
				return
			}
			want := []series{{
				name: "freshwatch_mood", help: "1 for the mood, 0 for the others.", kind: "gauge",
				labels: []string{"lease", "mood"}, values: map[string][]string{"lease": {"l"}, "mood": {"bad", "good"}},
			}}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(series{})); err != nil || diff != "" {
				t.Errorf("error %v, series (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestUnit(t *testing.T) {
	for name, want := range map[string]string{"freshwatch_age_seconds": "seconds", "freshwatch_busy_seconds_total": "seconds", "freshwatch_ends_total": "count", "freshwatch_ends": "count"} {
		if got := (series{name: name, help: "How many."}).unit(); got != want {
			t.Errorf("the unit of %s is %s, want %s", name, got, want)
		}
	}
	if got := (series{name: "freshwatch_trip_seconds", kind: "histogram", buckets: "60"}).unit(); got != "seconds, in buckets up to 60" {
		t.Errorf("the unit of a histogram is %s", got)
	}
	if got := (series{name: "freshwatch_full", help: "1 while it is full."}).unit(); got != "0 or 1" {
		t.Errorf("the unit of a gauge that is 0 or 1 is %s", got)
	}
}
