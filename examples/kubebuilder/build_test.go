// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package kubebuilder

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	scaffold = "guestbook"
	module   = "github.com/freshwatch/freshwatch"
	checkout = "../.."
)

// buildStock builds the operator as it is.
func buildStock(t *testing.T) (program string) {
	t.Helper()
	return build(t, scaffold)
}

// buildGuarded builds the operator with the change, as its author would: apply, go get,
// build.
func buildGuarded(t *testing.T) (program string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(scaffold)); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := filepath.Abs(change)
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "git", "apply", diff)
	if unformatted := run(t, dir, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("%s leaves these files to be formatted:\n%s", change, unformatted)
	}
	// In place of go get, which would find nothing but releases.
	run(t, dir, "go", "mod", "edit", "-require="+module+"@v0.0.0", "-replace="+module+"="+root)
	sums := readFile(t, filepath.Join(scaffold, "go.sum")) + readFile(t, filepath.Join(checkout, "go.sum"))
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), []byte(sums), 0o644); err != nil {
		t.Fatal(err)
	}
	return build(t, dir, "-mod=mod")
}

// build builds the program of a module.
func build(t *testing.T, dir string, flags ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "manager")
	run(t, dir, "go", append(append([]string{"build", "-ldflags=-w", "-o", program}, flags...), "./cmd")...)
	return program
}

// run returns what a command prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}
