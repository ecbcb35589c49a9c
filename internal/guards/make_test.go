// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	phony     = regexp.MustCompile(`(?m)^\.PHONY: (\S+)$`)
	mentioned = regexp.MustCompile(`\bmake ([a-z][a-z-]*)\b`)
	// Code in a Markdown file: a span or a fenced block. Prose may say "make sure".
	markdownCode = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
)

// TestMakeHelpNamesEveryTarget runs make without a target, as a newcomer would.
func TestMakeHelpNamesEveryTarget(t *testing.T) {
	help := run(t, repoRoot, nil, "make")
	for _, target := range makeTargets(t) {
		if !regexp.MustCompile(`(?m)^  make ` + target + ` +\S`).MatchString(help) {
			t.Errorf("make does not describe the target %s, only:\n%s", target, help)
		}
	}
}

// TestDocumentedCommandsExist looks up every "make something" that a document
// shows as code.
func TestDocumentedCommandsExist(t *testing.T) {
	targets := makeTargets(t)
	for _, name := range withExt(repoFiles(t), ".md") {
		for _, target := range commandsIn(readFile(t, name)) {
			if !slices.Contains(targets, target) {
				t.Errorf("%s mentions make %s, which the Makefile does not have", name, target)
			}
		}
	}
}

func TestCommandsIn(t *testing.T) {
	got := commandsIn("To make sure, run `make test`:\n\n```text\nmake demo DEMO_ARGS=-h\n```\n")
	if diff := cmp.Diff([]string{"test", "demo"}, got); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// TestMakeRename renames a copy of the module and builds it, as somebody does who
// wants to use it before its path is published.
func TestMakeRename(t *testing.T) {
	const renamed = "example.com/acme/fresh"
	module := modulePath(t)
	dir := copyRepo(t)
	run(t, dir, nil, "make", "rename", "MODULE="+renamed)

	if got := strings.TrimSpace(run(t, dir, nil, "go", "list", "-m")); got != renamed {
		t.Errorf("after make rename the module is %s, want %s", got, renamed)
	}
	libraries := run(t, dir, nil, "go", "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	run(t, dir, nil, "go", append([]string{"build"}, strings.Fields(libraries)...)...)
	run(t, dir, nil, "go", "list", "-test", "./...") // fails on an import that leads nowhere
	if got := run(t, dir, nil, "gofmt", "-l", "."); got != "" {
		t.Errorf("make rename left files that gofmt would change:\n%s", got)
	}
	for name := range strings.FieldsSeq(run(t, dir, nil, "git", "ls-files", "--cached", "--others")) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), module) {
			t.Errorf("make rename left %s in %s", module, name)
		}
	}
}

// makeTargets returns the targets meant for people, which the Makefile declares
// phony one by one.
func makeTargets(t *testing.T) []string {
	t.Helper()
	var targets []string
	for _, m := range phony.FindAllStringSubmatch(readFile(t, "Makefile"), -1) {
		targets = append(targets, m[1])
	}
	if len(targets) == 0 {
		t.Fatal("no .PHONY target found in the Makefile: the guard would prove nothing")
	}
	return targets
}

// commandsIn returns the make targets that a Markdown text names in its code.
func commandsIn(text string) []string {
	var targets []string
	for _, code := range markdownCode.FindAllString(text, -1) {
		for _, m := range mentioned.FindAllStringSubmatch(code, -1) {
			targets = append(targets, m[1])
		}
	}
	return targets
}

// copyRepo copies the files of the repository into a new Git repository, staged.
func copyRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range repoFiles(t) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(readFile(t, name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, nil, "git", "init", "--quiet")
	run(t, dir, nil, "git", "add", "--all")
	return dir
}
