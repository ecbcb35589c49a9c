// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// question is a query of a panel's.
type question struct{ panel, expr string }

// questions returns every query of the dashboard, with the variables as a reader finds
// them, but for the program that is chosen, and with a second for each minute.
func questions(t *testing.T, job string) []question {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "dashboards", "freshwatch.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
		Templating struct {
			List []struct {
				Name       string `json:"name"`
				Definition string `json:"definition"`
			} `json:"list"`
		} `json:"templating"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$namespace", ".*", "$job", job, "$resource", ".*", "$limit", "75", "$__rate_interval", "1m")
	var out []question
	add := func(of, expr string) {
		expr = variables.Replace(hurried(expr))
		if strings.Contains(expr, "$") {
			t.Errorf("%s: a variable that nobody knows: %s", of, expr)
		}
		out = append(out, question{of, expr})
	}
	for _, p := range file.Panels {
		for _, q := range p.Targets {
			add(p.Title, q.Expr)
		}
	}
	for _, v := range file.Templating.List {
		if m := labelValues.FindStringSubmatch(v.Definition); m != nil {
			add("variable "+v.Name, "group by ("+m[2]+") ("+m[1]+")")
		}
	}
	return out
}

// labelValues is how Grafana asks for the values of a variable.
var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)
