// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the Go snippets of the Markdown files from the Examples they name")

// snippet matches a fenced Go block together with the comment above it, if there
// is one, that names the function it shows:
//
//	<!-- example: freshness/example_test.go Example -->
//
// Of an Example that is the body, as in the package's documentation; of any other
// function the whole of it.
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

// withExamples returns doc with the content of each Go snippet replaced by
// what it shows of the function it names. A Go snippet that names none is an error: it
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
		code, err := shown(source, function)
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		out.WriteString(doc[end:m[8]] + code)
		end = m[9]
	}
	return out.String() + doc[end:], nil
}

// output is where the part of an Example starts that is only for go test.
var output = regexp.MustCompile("(?m)^// (Unordered o|O)utput:")

// shown returns what a snippet shows of a function: the body of an Example,
// formatted as a piece of code of its own and without its expected output, or any
// other function with its comment.
func shown(source, function string) (string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(file.Decls, func(decl ast.Decl) bool {
		f, ok := decl.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == function
	})
	if i < 0 {
		return "", fmt.Errorf("no function %s", function)
	}
	text := func(from, to token.Pos) string {
		return source[fset.Position(from).Offset:fset.Position(to).Offset]
	}
	f := file.Decls[i].(*ast.FuncDecl)
	if !strings.HasPrefix(function, "Example") {
		from := f.Pos()
		if f.Doc != nil {
			from = f.Doc.Pos()
		}
		return text(from, f.End()) + "\n", nil
	}
	// Without white space around it, the body is formatted without indentation.
	body, err := format.Source([]byte(strings.TrimSpace(text(f.Body.Lbrace+1, f.Body.Rbrace))))
	if err != nil {
		return "", err
	}
	if at := output.FindIndex(body); at != nil {
		body = body[:at[0]]
	}
	return strings.TrimRight(string(body), "\n") + "\n", nil
}

func TestWithExamples(t *testing.T) {
	const whole = "// newManager is shown whole.\nfunc newManager() {\n\tf()\n}\n"
	const source = "package p\n\nfunc Example() {\n\t// Why.\n\tif true {\n\t\tf()\n\t}\n\n\t// Output:\n\t// fresh\n}\n\n" +
		"func other() {}\n\n" + whole
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
		{name: "no Example", doc: "<!-- example: p/example_test.go newManager -->\n```go\n```\n", want: "<!-- example: p/example_test.go newManager -->\n```go\n" + whole + "```\n"},
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
