// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// allowedRequirements are the modules that the go.mod of a plain client-go program
// gains with this module, which is one more. The same reasons hold as for
// allowedAdditions.
var allowedRequirements = []string{
	"github.com/beorn7/perks",
	"github.com/cespare/xxhash/v2",
	"github.com/prometheus/client_golang",
	"github.com/prometheus/client_model",
	"github.com/prometheus/common",
	"github.com/prometheus/procfs",
}

// TestGoGetIntoAnEmptyOperator takes the module as an author would who starts from
// nothing: go get, a main.go, build, run. The module is served by a file-system
// module proxy, which holds what a release of the present files would hold.
func TestGoGetIntoAnEmptyOperator(t *testing.T) {
	const version = "v0.0.1"
	module := modulePath(t)
	proxy := t.TempDir()
	packed := writeModuleProxy(t, proxy, module, version)
	env := isolatedModuleCache(t, proxy)

	before := newProgram(t, "testdata/clientgo")
	run(t, before, env, "go", "get", "k8s.io/client-go@"+requiredVersion(t, "k8s.io/client-go"))
	run(t, before, env, "go", "mod", "tidy")

	operator := newProgram(t, "testdata/operator")
	run(t, operator, env, "go", "get", module+"@"+version)
	run(t, operator, env, "go", "mod", "tidy")
	const want = "configmaps Syncing\n"
	if got := run(t, operator, env, "go", "run", "-trimpath", "."); got != want {
		t.Errorf("the operator printed %q, want %q", got, want)
	}

	added := without(requirements(t, operator, env), requirements(t, before, env))
	allowed := sorted(append(slices.Clone(allowedRequirements), module))
	if got := without(added, allowed); len(got) != 0 {
		t.Errorf("the operator's go.mod gains modules that allowedRequirements does not name:\n%s", strings.Join(got, "\n"))
	}
	if !slices.Contains(added, module) {
		t.Errorf("the operator's go.mod does not require %s, only %q", module, added)
	}
	if slices.ContainsFunc(packed, func(name string) bool { return name != "go.mod" && filepath.Base(name) == "go.mod" }) {
		t.Errorf("a nested module is in the zip of the root module: %q", packed)
	}
}

func TestModuleFiles(t *testing.T) {
	got := moduleFiles([]string{
		"LICENSE", "examples/nested/deep/main.go", "examples/nested/go.mod", "examples/quickstart/main.go", "go.mod", "tools/go.mod", "toolshed/shed.go",
	})
	want := []string{"LICENSE", "examples/quickstart/main.go", "go.mod", "toolshed/shed.go"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of the root module (-want +got):\n%s", diff)
	}
}

// isolatedModuleCache returns the environment for go commands with a module cache
// of their own, so that the made-up version stays out of the machine's. What the
// machine has already downloaded is served from there, the rest by its own proxy.
func isolatedModuleCache(t *testing.T, proxy string) []string {
	t.Helper()
	downloads := filepath.Join(strings.TrimSpace(run(t, repoRoot, nil, "go", "env", "GOMODCACHE")), "cache", "download")
	upstream := strings.TrimSpace(run(t, repoRoot, nil, "go", "env", "GOPROXY"))
	return []string{
		"GOMODCACHE=" + t.TempDir(),
		"GOPROXY=" + strings.Join([]string{fileURL(proxy), fileURL(downloads), upstream}, ","),
		// The version is in no checksum database, and the other modules were checked
		// when the machine downloaded them; -modcacherw lets the test remove the
		// cache again; and no go.work of the machine has a say.
		"GOSUMDB=off",
		"GOFLAGS=-modcacherw",
		"GOWORK=off",
	}
}

func fileURL(dir string) string { return "file://" + filepath.ToSlash(dir) }

// newProgram makes a module that has nothing but the main.go found in source.
func newProgram(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	main, err := os.ReadFile(filepath.Join(filepath.FromSlash(source), "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"go.mod":  "module example.com/operator\n\ngo 1.26.0\n",
		"main.go": string(main),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// requiredVersion returns the version at which the root module requires path, so
// that both programs are built from the same client-go.
func requiredVersion(t *testing.T, path string) string {
	t.Helper()
	return strings.TrimSpace(run(t, repoRoot, nil, "go", "list", "-m", "-f", "{{.Version}}", path))
}

// requirements returns the modules that the go.mod in dir requires, sorted.
func requirements(t *testing.T, dir string, env []string) []string {
	t.Helper()
	var file struct{ Require []struct{ Path string } }
	if err := json.Unmarshal([]byte(run(t, dir, env, "go", "mod", "edit", "-json")), &file); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, r := range file.Require {
		paths = append(paths, r.Path)
	}
	return sorted(paths)
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
