// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package kubebuilder

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	change        = "freshwatch.diff"
	documentation = "../../docs/kubebuilder.md"
	// linesAtMost is what the documentation promises.
	linesAtMost = 10
)

// TestChangeIsSmall counts what an author has to change.
func TestChangeIsSmall(t *testing.T) {
	n := changedLines(readFile(t, change))
	if n == 0 || n > linesAtMost {
		t.Errorf("%s changes %d lines, want at most %d", change, n, linesAtMost)
	}
	t.Logf("%d lines", n)
}

// TestChangeIsDocumented holds the documentation to the file that is tested.
func TestChangeIsDocumented(t *testing.T) {
	if diff := cmp.Diff(readFile(t, change), fenced(readFile(t, documentation), "diff", 0)); diff != "" {
		t.Errorf("%s shows another diff than %s (-want +got):\n%s", documentation, change, diff)
	}
}

// changedLines counts the lines that a unified diff adds or changes, and those that it
// only removes: of lines that follow each other, a removed and an added one are one that
// is changed.
func changedLines(diff string) (n int) {
	added, removed := 0, 0
	for line := range strings.Lines(diff) {
		header := strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ")
		switch {
		case !header && strings.HasPrefix(line, "+"):
			added++
		case !header && strings.HasPrefix(line, "-"):
			removed++
		default:
			n += max(added, removed)
			added, removed = 0, 0
		}
	}
	return n + max(added, removed)
}

func TestChangedLines(t *testing.T) {
	for _, tt := range []struct {
		name, diff string
		want       int
	}{
		{"none", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n same\n", 0},
		{"added", "--- a/f\n+++ b/f\n@@ -1 +1,3 @@\n same\n+one\n+two\n", 2},
		{"removed", "@@ -1,3 +1 @@\n same\n-one\n-two\n", 2},
		{"changed", "@@ -1,2 +1,2 @@\n-one\n-two\n+eins\n+zwei\n same\n", 2},
		{"changed and one added", "@@ -1,2 +1,2 @@\n-one\n+eins\n+zwei\n same\n", 2},
		{"changed and two removed", "@@ -1,3 +1,2 @@\n-one\n-two\n-three\n+eins\n same\n", 3},
		{"apart", "@@ -1,3 +1,3 @@\n-one\n same\n+two\n", 2},
		{"no newline at the end", "@@ -1 +1 @@\n same\n+one", 1},
		{"at the end", "@@ -1,2 +1 @@\n same\n-one\n", 1},
		{"two files", "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n same\n+one\n--- a/g\n+++ b/g\n@@ -1,2 +1 @@\n same\n-one\n", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := changedLines(tt.diff); got != tt.want {
				t.Errorf("%d lines, want %d", got, tt.want)
			}
		})
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fenced returns the n-th block of a language in a Markdown text, from 0.
func fenced(text, language string, n int) string {
	blocks := strings.Split(text, "\n```"+language+"\n")[1:]
	if n >= len(blocks) {
		return ""
	}
	block, _, found := strings.Cut(blocks[n], "\n```\n")
	if !found {
		return ""
	}
	return block + "\n"
}
