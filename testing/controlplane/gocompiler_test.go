// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeGo answers the go command's subcommands from files beside it. What "go build" is asked for and under which environment goes to the
// file "asked"; the script build.sh decides what becomes of it.
const fakeGo = `
here=$(dirname "$0")
case "$1 $2" in
"list -m") echo "$here/k8s.mod" ;;
"mod edit") cat "$here/described.json" ;;
"list -deps") [ ! -e "$here/list.sh" ] || . "$here/list.sh" ;;
build*) echo "$GOFLAGS|$GOWORK|$CGO_ENABLED|$GOOS|$PWD|$*" > "$here/asked"
	while [ "$1" != "-o" ]; do shift; done
	. "$here/build.sh" ;;
*) echo "unexpected: $*" >&2; exit 1 ;;
esac
`

// onlyFakeGo makes a directory with fakeGo the first on PATH and returns it.
func onlyFakeGo(t *testing.T, build string) string {
	t.Helper()
	dir := t.TempDir()
	writeScript(t, dir, "go", fakeGo)
	writeScript(t, dir, "build.sh", build)
	const described = `{"Go": "1.26.0",
		"Require": [{"Path": "go.etcd.io/etcd/server/v3", "Version": "v3.7.0"}],
		"Replace": [{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}}]}`
	if err := os.WriteFile(filepath.Join(dir, "described.json"), []byte(described), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}

func buildEtcd(ctx context.Context, cache string) error {
	log, _ := newTestLog()
	return buildSource(ctx, releases()[0], []Component{Etcd}, cache, log)
}

func buildKine(ctx context.Context, cache string) error {
	log, _ := newTestLog()
	return buildSource(ctx, kineSource{}, []Component{Kine}, cache, log)
}

func TestGoCompiler(t *testing.T) {
	fake := onlyFakeGo(t, `printf binary > "$2"; chmod +x "$2"; cp go.mod "$here/"`)
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Setenv("GOWORK", "/somewhere/go.work")
	t.Setenv("GOOS", "plan9")
	cache := t.TempDir()
	if err := buildEtcd(context.Background(), cache); err != nil {
		t.Fatal(err)
	}
	if absent := missing(filepath.Join(cache, releases()[0].key()), []Component{Etcd}); len(absent) > 0 {
		t.Errorf("missing after the build: %v", absent)
	}
	mod, err := os.ReadFile(filepath.Join(fake, "go.mod"))
	if err != nil || !strings.Contains(string(mod), "replace k8s.io/api => k8s.io/api v0.37.2") {
		t.Errorf("built in a module with go.mod %q, %v", mod, err)
	}
	asked, err := os.ReadFile(filepath.Join(fake, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-mod=mod|off|0||" + cache, "-trimpath", "-s -w", "go.etcd.io/etcd/server/v3\n",
		"-X k8s.io/component-base/version.gitVersion=v1.37.2", "-X k8s.io/client-go/pkg/version.gitMinor=37",
	} {
		if !strings.Contains(string(asked), want) {
			t.Errorf("go build was asked %q, want %q in it", asked, want)
		}
	}
}

func TestGoCompilerBuildsKineAlone(t *testing.T) {
	fake := onlyFakeGo(t, `printf binary > "$2"; chmod +x "$2"; cp go.mod "$here/"`)
	cache := t.TempDir()
	if err := buildKine(context.Background(), cache); err != nil {
		t.Fatal(err)
	}
	if absent := missing(filepath.Join(cache, "kine"+kineVersion), []Component{Kine}); len(absent) > 0 {
		t.Errorf("missing after the build: %v", absent)
	}
	mod, err := os.ReadFile(filepath.Join(fake, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	// The language version is that of the go.mod which the fake describes.
	want := "module " + generatedModule + "\n\ngo 1.26.0\n\nrequire github.com/k3s-io/kine v" + kineVersion + "\n"
	if diff := cmp.Diff(want, string(mod)); diff != "" {
		t.Errorf("go.mod (-want +got):\n%s", diff)
	}
	asked, err := os.ReadFile(filepath.Join(fake, "asked"))
	if err != nil || !strings.Contains(string(asked), "github.com/k3s-io/kine\n") {
		t.Errorf("go build was asked %q, %v, want kine's main package", asked, err)
	}
}

func TestGoCompilerFailures(t *testing.T) {
	t.Run("no compiler", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		wantError(t, buildEtcd(context.Background(), t.TempDir()), "cannot build Kubernetes 1.37.2", "no Go compiler", "PATH")
	})
	t.Run("no network", func(t *testing.T) {
		// The real go command, which must not find the module in the user's cache.
		t.Setenv("GOPROXY", "off")
		t.Setenv("GOMODCACHE", t.TempDir())
		wantError(t, buildEtcd(context.Background(), t.TempDir()),
			"cannot download the go.mod of Kubernetes 1.37.2", "module lookup disabled by GOPROXY=off")
	})
	t.Run("no go.mod", func(t *testing.T) {
		fake := onlyFakeGo(t, "")
		writeScript(t, fake, "described.json", "")
		wantError(t, buildEtcd(context.Background(), t.TempDir()), "go.mod of Kubernetes 1.37.2", "invalid character")
		wantError(t, buildKine(context.Background(), t.TempDir()), "go.mod of kine "+kineVersion, "invalid character")
	})
	t.Run("disk full while building", func(t *testing.T) {
		onlyFakeGo(t, `echo "write $2: no space left on device" >&2; echo "more" >&2; exit 1`)
		err := buildEtcd(context.Background(), t.TempDir())
		wantError(t, err, "cannot build etcd", "the disk is full", spaceNeeded, "write /", "no space left on device")
		if !errors.Is(err, errDiskFull) {
			t.Errorf("%v is not %v", err, errDiskFull)
		}
	})
	t.Run("disk full while downloading", func(t *testing.T) {
		fake := onlyFakeGo(t, "")
		writeScript(t, fake, "list.sh", `echo "go: write x.zip: no space left on device" >&2; exit 1`)
		wantError(t, buildEtcd(context.Background(), t.TempDir()), "cannot download the modules of etcd", "the disk is full")
	})
	t.Run("compile error", func(t *testing.T) {
		onlyFakeGo(t, `echo "some/package"; echo "file.go:1: broken" >&2; exit 1`)
		wantError(t, buildEtcd(context.Background(), t.TempDir()), "cannot build etcd: exit status 1: file.go:1: broken")
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		fake := onlyFakeGo(t, `/bin/sleep 600 & echo $! > "$here/child"; mkfifo "$here/never"; echo ready > "$here/ready"; cat "$here/never"`)
		readyPipe(t, filepath.Join(fake, "ready"), cancel)
		err := buildEtcd(ctx, t.TempDir())
		wantError(t, err, "cannot build etcd", "canceled")
		waitGone(t, readPID(t, filepath.Join(fake, "child")))
	})
}
