// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// enumeration is a label whose values are the names of the values of a type.
type enumeration struct {
	label, typeName string
	values          []string // in the order of the type
}

// namesOf returns the names of the values of a type that counts from 0, up to the first
// that has none.
func namesOf[T interface {
	~int
	String() string
}]() []string {
	named := func(v T) bool { return v.String() != T(-1).String() && !strings.Contains(v.String(), "(") }
	var names []string
	for v := T(0); named(v); v++ {
		names = append(names, v.String())
	}
	return names
}

// meanings returns the comments on the values of the enumeration, which are in one of
// the sources.
func (e enumeration) meanings(sources []string) ([]string, error) {
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			consts, ok := decl.(*ast.GenDecl)
			if !ok || consts.Tok != token.CONST || !isOfType(consts.Specs[0], e.typeName) {
				continue
			}
			var out []string
			for _, spec := range consts.Specs {
				value := spec.(*ast.ValueSpec)
				name, meaning, _ := strings.Cut(strings.Join(strings.Fields(value.Doc.Text()), " "), " ")
				if strings.TrimSuffix(name, ":") != value.Names[0].Name || meaning == "" {
					return nil, fmt.Errorf("the comment on %s must begin with its name, and say what it means", value.Names[0].Name)
				}
				out = append(out, strings.ToUpper(meaning[:1])+strings.NewReplacer("[", "", "]", "").Replace(meaning[1:]))
			}
			if len(out) != len(e.values) {
				return nil, fmt.Errorf("%s has %d values with a comment, and %d with a name", e.typeName, len(out), len(e.values))
			}
			return out, nil
		}
	}
	return nil, fmt.Errorf("no constants of type %s", e.typeName)
}

func isOfType(spec ast.Spec, name string) bool {
	value, ok := spec.(*ast.ValueSpec)
	if !ok {
		return false
	}
	ident, ok := value.Type.(*ast.Ident)
	return ok && ident.Name == name
}

type mood int

func (m mood) String() string { return [...]string{"good", "bad", "mood(?)"}[min(uint(m), 2)] }

func TestNamesOf(t *testing.T) {
	if diff := cmp.Diff([]string{"good", "bad"}, namesOf[mood]()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestMeanings(t *testing.T) {
	const other = "package p\n\nconst speed = 3\n"
	const good = "package p\n\nconst (\n\t// Good: all is\n\t// well, see [Options].\n\tGood Mood = iota\n\t// Bad: it is not.\n\tBad\n)\n"
	moods := enumeration{"mood", "Mood", []string{"good", "bad"}}
	for _, tc := range []struct {
		name    string
		sources []string
		fails   bool
	}{
		{"found", []string{other, good}, false},
		{"in no source", []string{other}, true},
		{"without a comment", []string{strings.Replace(good, "// Bad: it is not.", "", 1)}, true},
		{"with that of another", []string{strings.Replace(good, "// Bad:", "// Sad:", 1)}, true},
		{"one more", []string{strings.Replace(good, "\tBad\n", "\tBad\n\t// Worse: worse.\n\tWorse\n", 1)}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := moods.meanings(tc.sources)
			if (err != nil) != tc.fails {
				t.Fatalf("error %v, want one: %t", err, tc.fails)
			}
			if diff := cmp.Diff([]string{"All is well, see Options.", "It is not."}, got); err == nil && diff != "" {
				t.Errorf("meanings (-want +got):\n%s", diff)
			}
		})
	}
}
