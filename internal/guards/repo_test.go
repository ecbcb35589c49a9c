// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repoRoot is where the repository starts, seen from this package's directory,
// in which go test runs its tests.
const repoRoot = "../.."

// repoFiles returns the files of the repository as slash-separated paths from
// its root: those that Git tracks and those it would track, so that a file is
// judged before it is committed. Files deleted but not yet committed are left out.
func repoFiles(t *testing.T) []string {
	t.Helper()
	out := run(t, repoRoot, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(repoRoot, name)); err == nil {
			files = append(files, name)
		}
	}
	if !slices.Contains(files, "go.mod") {
		t.Fatalf("git ls-files in %s names no go.mod: the guards need a Git checkout, got %q", repoRoot, files)
	}
	return files
}

// withExt keeps the files whose names end in ext.
func withExt(files []string, ext string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		return path.Ext(name) != ext
	})
}

// readFile returns the content of a file named from the root of the repository.
func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repoRoot, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// modulePath returns the path of the root module, which make rename changes.
func modulePath(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, repoRoot, nil, "go", "list", "-m"))
}

// run runs a command in dir, with env added to the environment, and returns what
// it printed on its standard output. A command that fails ends the test.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String()
}
