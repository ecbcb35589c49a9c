// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// TestNoTestSleepsForReal lets a test file sleep only where the time that passes
// is that of a testing/synctest bubble. The linter forbids it everywhere else, but
// cannot tell the two apart.
func TestNoTestSleepsForReal(t *testing.T) {
	for _, name := range withExt(repoFiles(t), ".go") {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, at := range realSleeps(t, name, readFile(t, name)) {
			t.Errorf("%s sleeps: wait for what happens, step the fake clock, or use testing/synctest", at)
		}
	}
}

// realSleeps returns where a file calls time.Sleep, unless it imports
// testing/synctest.
func realSleeps(t *testing.T, name, source string) []string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` }) {
		return nil
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" {
				found = append(found, fset.Position(sel.Pos()).String())
			}
		}
		return true
	})
	return found
}

func TestRealSleeps(t *testing.T) {
	const body = "\nfunc f() { time.Sleep(time.Second) }\n"
	for _, tc := range []struct {
		name   string
		source string
		want   int
	}{
		{"asleep", "package p\nimport \"time\"\n" + body, 1},
		{"in a bubble", "package p\nimport (\n\"testing/synctest\"\n\"time\"\n)\nvar _ = synctest.Test\n" + body, 0},
		{"awake", "package p\nimport \"time\"\nvar _ = time.Second\n", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := realSleeps(t, "p.go", tc.source); len(got) != tc.want {
				t.Errorf("found %q, want %d sleeps", got, tc.want)
			}
		})
	}
}
