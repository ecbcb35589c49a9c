// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the Go snippets of the Markdown files from the Examples they name")

// snippet matches a fenced Go block together with the comment above it, if there
// is one, that names the function it is the body of:
//
//	<!-- example: freshness/example_test.go Example -->
//
// Its groups are the comment with its newline, the file, the function and the code.
var snippet = regexp.MustCompile("(?ms)(^<!-- example: (\\S+) (\\S+) -->\n)?^```go\n(.*?)^```$")

// TestSnippetsAreExamples holds every Go snippet of a Markdown file equal to the
// Example it names, which the compiler and go test judge. Run the test with
// -update to bring the snippets up to date.
func TestSnippetsAreExamples(t *testing.T) {
	for _, name := range withExt(repoFiles(t), ".md") {
		doc := readFile(t, name)
		want, err := withExamples(doc, func(file string) (string, error) {
			source, err := os.ReadFile(filepath.Join(repoRoot, file))
			return string(source), err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if *update && want != doc {
			if err := os.WriteFile(filepath.Join(repoRoot, name), []byte(want), 0o644); err != nil {
				t.Error(err)
			}
			continue
		}
		if diff := cmp.Diff(want, doc); diff != "" {
			t.Errorf("%s differs from the Examples it shows (-want +got); bring it up to date with\n"+
				"go test ./internal/guards -run %s -update\n%s", name, t.Name(), diff)
		}
	}
}

// withExamples returns doc with the content of each Go snippet replaced by the
// body of the function it names. A Go snippet that names none is an error: it
// would be code that nobody compiles. Other languages may stand as they are.
func withExamples(doc string, readSource func(file string) (string, error)) (string, error) {
	var out strings.Builder
	end := 0
	for _, m := range snippet.FindAllStringSubmatchIndex(doc, -1) {
		if m[2] < 0 {
			line := 1 + strings.Count(doc[:m[0]], "\n")
			return "", fmt.Errorf("line %d: a Go snippet without the comment that names its Example", line)
		}
		file, function := doc[m[4]:m[5]], doc[m[6]:m[7]]
		source, err := readSource(file)
		if err != nil {
			return "", err
		}
		body, err := functionBody(source, function)
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		out.WriteString(doc[end:m[8]] + body)
		end = m[9]
	}
	return out.String() + doc[end:], nil
}

// output is where the part of an Example starts that is only for go test.
var output = regexp.MustCompile("(?m)^// (Unordered o|O)utput:")

// functionBody returns what stands between the braces of a function, formatted as
// a piece of code of its own and without an Example's expected output.
func functionBody(source, function string) (string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Name != function {
			continue
		}
		from, to := fset.Position(f.Body.Lbrace).Offset+1, fset.Position(f.Body.Rbrace).Offset
		// Without white space around it, the body is formatted without indentation.
		body, err := format.Source([]byte(strings.TrimSpace(source[from:to])))
		if err != nil {
			return "", err
		}
		if at := output.FindIndex(body); at != nil {
			body = bytes.TrimRight(body[:at[0]], "\n")
		}
		return string(body) + "\n", nil
	}
	return "", fmt.Errorf("no function %s", function)
}

func TestWithExamples(t *testing.T) {
	const source = "package p\n\nfunc Example() {\n\t// Why.\n\tif true {\n\t\tf()\n\t}\n\n\t// Output:\n\t// fresh\n}\n"
	read := func(file string) (string, error) {
		if file != "p/example_test.go" {
			return "", os.ErrNotExist
		}
		return source, nil
	}
	const comment = "<!-- example: p/example_test.go Example -->\n"
	const body = "// Why.\nif true {\n\tf()\n}\n"
	for _, tc := range []struct {
		name, doc, want string
		fails           bool
	}{
		{name: "equal", doc: "Text.\n\n" + comment + "```go\n" + body + "```\n\nMore.\n", want: "Text.\n\n" + comment + "```go\n" + body + "```\n\nMore.\n"},
		{name: "outdated", doc: comment + "```go\ng()\n```\n", want: comment + "```go\n" + body + "```\n"},
		{name: "other language", doc: "```text\ngo get\n```\n", want: "```text\ngo get\n```\n"},
		{name: "nameless", doc: "```go\ng()\n```\n", fails: true},
		{name: "second one nameless", doc: comment + "```go\n" + body + "```\n\n```go\ng()\n```\n", fails: true},
		{name: "no such function", doc: "<!-- example: p/example_test.go ExampleOther -->\n```go\n```\n", fails: true},
		{name: "no such file", doc: "<!-- example: q/example_test.go Example -->\n```go\n```\n", fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := withExamples(tc.doc, read)
			if (err != nil) != tc.fails {
				t.Fatalf("error %v, want one: %t", err, tc.fails)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}
