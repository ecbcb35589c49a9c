// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"
)

// rule is an alert or a recording rule.
type rule struct {
	Alert       string            `json:"alert"`
	Record      string            `json:"record"`
	Expr        string            `json:"expr"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// ruleFiles returns the files of rules, by their names.
func ruleFiles(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "alerts", "*.rules.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	out := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = string(text)
	}
	return out
}

// parseRules returns the rules of a file.
func parseRules(t *testing.T, text string) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []rule `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	var out []rule
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

var (
	minutes = regexp.MustCompile(`\b(\d+)([mhd])\b`)
	smaller = map[string]string{"m": "s", "h": "m", "d": "h"}
)

// hurried has a second take the place of each minute in a file of rules, and so on.
func hurried(text string) string {
	return minutes.ReplaceAllStringFunc(text, func(d string) string { return d[:len(d)-1] + smaller[d[len(d)-1:]] })
}

// selectors returns the metrics that an expression selects, according to Prometheus.
func (s *server) selectors(t *testing.T, expr string) map[string]bool {
	t.Helper()
	body, err := s.get(t.Context(), "/api/v1/parse_query", url.Values{"query": {expr}})
	if err != nil {
		t.Fatalf("%s\n%v", expr, err)
	}
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(answer.Data, &tree); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	collect(tree, out)
	return out
}

// collect finds the metrics of a syntax tree.
func collect(node any, into map[string]bool) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			collect(child, into)
		}
	case map[string]any:
		if kind := fmt.Sprint(n["type"]); kind == "vectorSelector" || kind == "matrixSelector" {
			into[fmt.Sprint(n["name"])] = true
		}
		for _, child := range n {
			collect(child, into)
		}
	}
}

// usedMetrics returns the metrics that the alerts are made of.
func usedMetrics(t *testing.T, s *server) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, text := range ruleFiles(t) {
		for _, r := range parseRules(t, text) {
			if r.Alert != "" {
				maps.Copy(out, s.selectors(t, r.Expr))
			}
		}
	}
	return out
}

// ruleHealth returns what Prometheus says of each rule that it has evaluated.
func (s *server) ruleHealth(t *testing.T) []string {
	t.Helper()
	body, err := s.get(t.Context(), "/api/v1/rules", nil)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct {
					Name      string `json:"name"`
					Health    string `json:"health"`
					LastError string `json:"lastError"`
				} `json:"rules"`
			} `json:"groups"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, g := range answer.Data.Groups {
		for _, r := range g.Rules {
			out = append(out, fmt.Sprintf("%s %s %s", r.Name, r.LastError, r.Health))
		}
	}
	return out
}
