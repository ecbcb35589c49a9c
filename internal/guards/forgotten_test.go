// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMetricsHaveNoForgottenCollector finds, in the source, the types that are collectors
// and the names of the series, and compares both with what docs/metrics.md is made from.
func TestMetricsHaveNoForgottenCollector(t *testing.T) {
	var wantTypes, wantNames []string
	for _, section := range sections(t) {
		for _, name := range section.types {
			wantTypes = append(wantTypes, section.dir+"."+name)
		}
		for _, s := range section.series {
			wantNames = append(wantNames, s.name)
		}
	}
	var gotTypes, gotNames []string
	for _, name := range librarySource(t) {
		found, names, err := collectorsIn(path.Dir(name), readFile(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		gotTypes, gotNames = append(gotTypes, found...), append(gotNames, names...)
	}
	if diff := cmp.Diff(sorted(wantTypes), sorted(gotTypes)); diff != "" {
		t.Errorf("the collectors in collectors_test.go are not those of the source (-listed +source):\n%s", diff)
	}
	if diff := cmp.Diff(sorted(wantNames), sorted(gotNames)); diff != "" {
		t.Errorf("the series that are described are not those of the source (-described +source):\n%s", diff)
	}
}

// librarySource returns the Go files that are built into a user's program.
func librarySource(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(moduleFiles(withExt(repoFiles(t), ".go")), func(name string) bool {
		return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "testing/") || strings.HasPrefix(name, "examples/")
	})
}

// collectorsIn returns the types in a file that have a method Describe of a Collector,
// and the names of the series that are made there. Of the ways to make one, it
// understands those that this repository uses:
//
//	prometheus.NewCounterVec(prometheus.CounterOpts{Name: "freshwatch_ends_total"}, ...)
//	d := func(name ...) { return prometheus.NewDesc("freshwatch_"+name, ...) }; d("ends_total", ...)
//
// Any other is an error, since its series would be forgotten.
func collectorsIn(dir, source string) (collectors, names []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	var unread []string
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "Describe" && f.Recv != nil {
			collectors = append(collectors, dir+"."+receiver(f))
		}
		helpers := map[string]string{} // functions like d, and their prefix
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if helper, prefix := descHelper(n); prefix != "" {
					helpers[helper] = prefix
					return false
				}
			case *ast.CallExpr:
				called := types.ExprString(n.Fun)
				prefix, isHelper := helpers[called]
				if !isHelper && !makesSeries.MatchString(called) {
					break
				}
				if name := nameOf(n.Args); name != "" {
					names = append(names, prefix+name)
				} else {
					unread = append(unread, called)
				}
			}
			return true
		})
	}
	if len(unread) != 0 {
		return collectors, names, fmt.Errorf("this guard cannot tell the name of the series that %s makes", strings.Join(unread, ", "))
	}
	return collectors, names, nil
}

var makesSeries = regexp.MustCompile(`^(prometheus|promauto)\.New(Desc|(Counter|Gauge|Untyped|Histogram|Summary)(Vec|Func)?)$`)

// descHelper tells whether a statement assigns a function that makes a Desc of a prefix
// and its first argument.
func descHelper(n *ast.AssignStmt) (name, prefix string) {
	if len(n.Rhs) != 1 {
		return "", ""
	}
	f, ok := n.Rhs[0].(*ast.FuncLit)
	if !ok {
		return "", ""
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "prometheus.NewDesc" {
			if sum, ok := call.Args[0].(*ast.BinaryExpr); ok {
				prefix = literal(sum.X)
			}
		}
		return true
	})
	return types.ExprString(n.Lhs[0]), prefix
}

// nameOf returns the first argument if it is a string, or the field Name of it if it is
// one of the Opts.
func nameOf(args []ast.Expr) string {
	opts, ok := args[0].(*ast.CompositeLit)
	if !ok {
		return literal(args[0])
	}
	for _, e := range opts.Elts {
		if field, ok := e.(*ast.KeyValueExpr); ok && types.ExprString(field.Key) == "Name" {
			return literal(field.Value)
		}
	}
	return ""
}

// literal returns the value of a string literal, or nothing.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	value, _ := strconv.Unquote(lit.Value) // of anything else than a string: nothing
	return value
}

// receiver names the type that has a method.
func receiver(f *ast.FuncDecl) string {
	name := strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
	name, _, _ = strings.Cut(name, "[")
	return name
}

func TestCollectorsIn(t *testing.T) {
	const head = "package p\n\nimport \"github.com/prometheus/client_golang/prometheus\"\n\n"
	for _, tc := range []struct {
		name, source string
		types, names []string
		fails        bool
	}{
		{
			name:   "a collector",
			source: "func (c *Canary) Describe(ch chan<- *prometheus.Desc) {}\nfunc (c *Canary) Collect(ch chan<- prometheus.Metric) {}\n",
			types:  []string{"p.Canary"},
		},
		{name: "a generic one", source: "func (g *Gate[request]) Describe(ch chan<- *prometheus.Desc) {}\n", types: []string{"p.Gate"}},
		{name: "by Opts", source: `var ends = prometheus.NewCounterVec(prometheus.CounterOpts{Help: "H.", Name: "freshwatch_ends_total"}, nil)`, names: []string{"freshwatch_ends_total"}},
		{name: "by a Desc", source: `func f() { prometheus.NewDesc("freshwatch_ends_total", "H.", nil, nil) }`, names: []string{"freshwatch_ends_total"}},
		{
			name: "by a function with a prefix",
			source: "func f() {\n\td := func(name string) *prometheus.Desc { return prometheus.NewDesc(\"freshwatch_\"+name, \"H.\", nil, nil) }\n" +
				"\tuse(d(\"ends_total\"), d(\"watches\"))\n}\n",
			names: []string{"freshwatch_ends_total", "freshwatch_watches"},
		},
		{name: "by a variable", source: `func f(name string) { prometheus.NewDesc(name, "H.", nil, nil) }`, fails: true},
		{name: "by Opts that are a variable", source: `func f(o prometheus.GaugeOpts) { prometheus.NewGauge(o) }`, fails: true},
		{name: "no series", source: `var registry = prometheus.NewRegistry()`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			collectors, names, err := collectorsIn("p", head+tc.source)
			if (err != nil) != tc.fails {
				t.Errorf("error %v, want one: %t", err, tc.fails)
			}
			if diff := cmp.Diff(tc.types, collectors); diff != "" {
				t.Errorf("types (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.names, names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}
