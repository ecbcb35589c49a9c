// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeBinaries puts scripts of the components' names into dir; kube-apiserver says that it is of that version.
func fakeBinaries(t *testing.T, dir, version string, names ...Component) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		writeScript(t, dir, string(name), fmt.Sprintf("echo Kubernetes v%s", version))
	}
	return dir
}

func TestFindOrder(t *testing.T) {
	r := releases()[0]
	pair := []Component{Etcd, APIServer}
	for _, test := range []struct {
		name     string
		assets   func(t *testing.T, dir string) string
		cached   []Component
		envtest  []Component // nil: not installed
		explicit bool
		need     []Component
		source   string
		logged   string
	}{
		{name: "nothing anywhere", need: pair, source: "built"},
		{name: "cache", cached: allComponents(), need: pair, source: "cache"},
		{name: "cache lacks one", cached: pair, need: allComponents(), source: "built"},
		{name: "setup-envtest", envtest: pair, need: pair, source: "setup-envtest"},
		{name: "cache before setup-envtest", cached: pair, envtest: pair, need: pair, source: "cache"},
		{
			name: "assets before cache", need: pair, cached: pair, source: assetsVariable,
			assets: func(t *testing.T, dir string) string { return fakeBinaries(t, dir, "1.30.0", pair...) },
		},
		{
			name: "assets of the version asked for", explicit: true, need: pair, cached: pair, source: assetsVariable,
			assets: func(t *testing.T, dir string) string { return fakeBinaries(t, dir, r.minor+".9", pair...) },
		},
		{
			name: "assets of another version than asked for", explicit: true, need: pair, cached: pair, source: "cache",
			assets: func(t *testing.T, dir string) string { return fakeBinaries(t, dir, "1.30.0", pair...) },
			logged: `holds Kubernetes "v1.30.0", not 1.37`,
		},
		{
			name: "assets that lack one", need: allComponents(), cached: allComponents(), source: "cache",
			assets: func(t *testing.T, dir string) string { return fakeBinaries(t, dir, "1.30.0", pair...) },
			logged: "lacks kube-controller-manager, kube-scheduler",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			own := filepath.Join(dir, "cache", r.key())
			fakeBinaries(t, own, "", test.cached...)
			log, text := newTestLog()
			f := &finder{
				release: r, explicit: test.explicit, need: test.need, log: log, cache: filepath.Join(dir, "cache"),
				download: func(context.Context, release, []Component) (string, error) {
					if test.envtest == nil {
						return "", errNoSetupEnvtest
					}
					return fakeBinaries(t, filepath.Join(dir, "envtest"), "", test.envtest...), nil
				},
				build: func(_ context.Context, _ source, need []Component, _ string, _ *logger) error {
					fakeBinaries(t, own, "", need...)
					return nil
				},
			}
			if test.assets != nil {
				f.assets = test.assets(t, filepath.Join(dir, "assets"))
			}
			found, err := f.find(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if found.source != test.source {
				t.Errorf("source %q, want %q", found.source, test.source)
			}
			if absent := missing(found.dir, test.need); len(absent) > 0 {
				t.Errorf("%s lacks %v", found.dir, absent)
			}
			if got := text.String(); !strings.Contains(got, test.logged) || test.logged == "" && got != "" {
				t.Errorf("logged %q, want %q", got, test.logged)
			}
		})
	}
}

func TestFindGoesOnWithoutTheDownloadSite(t *testing.T) {
	log, text := newTestLog()
	broken := errors.New("broken")
	f := &finder{
		release: releases()[0], need: []Component{Etcd}, log: log, cache: t.TempDir(),
		download: func(context.Context, release, []Component) (string, error) { return "", errors.New("no such host") },
		build:    func(context.Context, source, []Component, string, *logger) error { return broken },
	}
	if _, err := f.find(context.Background()); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if got, want := text.String(), "controlplane: setup-envtest: no such host: building instead\n"; got != want {
		t.Errorf("logged %q, want %q", got, want)
	}
}

func TestFindKine(t *testing.T) {
	pair := []Component{Etcd, APIServer}
	for _, test := range []struct {
		name         string
		need, cached []Component
		dirs         []string // of the release and of kine
		built        string
	}{
		{name: "in the cache", need: []Component{Kine, APIServer}, cached: []Component{Kine}, dirs: []string{"assets", "kine" + kineVersion}},
		{name: "built", need: []Component{Kine, APIServer}, dirs: []string{"assets", "kine" + kineVersion}, built: "kine " + kineVersion},
		{name: "alone", need: []Component{Kine}, dirs: []string{"", "kine" + kineVersion}, built: "kine " + kineVersion},
		{name: "not needed", need: pair, dirs: []string{"assets", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			own := filepath.Join(dir, kineSource{}.key())
			fakeBinaries(t, own, "", test.cached...)
			log, _ := newTestLog()
			built := ""
			f := &finder{
				release: releases()[0], need: test.need, log: log, cache: dir,
				assets: fakeBinaries(t, filepath.Join(dir, "assets"), "", pair...),
				build: func(_ context.Context, s source, need []Component, _ string, _ *logger) error {
					built += s.String()
					fakeBinaries(t, own, "", need...)
					return nil
				},
			}
			found, err := f.findAll(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"", ""}
			for i, name := range test.dirs {
				if name != "" {
					want[i] = filepath.Join(dir, name)
				}
			}
			if diff := cmp.Diff(want, []string{found.dir, found.kine}); diff != "" {
				t.Errorf("directories (-want +got):\n%s", diff)
			}
			if built != test.built {
				t.Errorf("built %q, want %q", built, test.built)
			}
		})
	}
}

func TestFindCountsOnlyPrograms(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, string(Etcd)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, string(APIServer)), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := missing(dir, []Component{Etcd, APIServer, Scheduler}); len(got) != 3 {
		t.Errorf("missing %v, want all: a file that is not executable, a directory, nothing", got)
	}
}

func TestEnsureValidates(t *testing.T) {
	_, err := Ensure(context.Background(), "1.12", nil)
	wantError(t, err, `version: "1.12"`, "1.37")
	_, err = Ensure(context.Background(), "", nil, "kubelet")
	wantError(t, err, `component "kubelet"`, "kube-scheduler", "kine")
}

func TestEnsureTakesAssets(t *testing.T) {
	dir := fakeBinaries(t, t.TempDir(), "1.37.0", allComponents()...)
	t.Setenv(assetsVariable, dir)
	text := &testLog{}
	got, err := Ensure(context.Background(), "", text)
	if err != nil || got != dir {
		t.Fatalf("got %q, %v, want %q", got, err, dir)
	}
	want := "controlplane: using kube-apiserver from " + dir + " (KUBEBUILDER_ASSETS)\n"
	if text.String() != want {
		t.Errorf("logged %q, want %q", text.String(), want)
	}
}

func TestReleases(t *testing.T) {
	if got := releases()[0].minor; got != DefaultVersion {
		t.Errorf("newest release is %s, want DefaultVersion %s", got, DefaultVersion)
	}
	r, err := releaseOf("")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.staging(); got != "v0.37.2" {
		t.Errorf("staging modules of %s: %s, want v0.37.2", r.kubernetes, got)
	}
	for _, r := range releases() {
		if !strings.HasPrefix(r.kubernetes, r.minor+".") {
			t.Errorf("release %s is pinned to %s", r.minor, r.kubernetes)
		}
	}
}
