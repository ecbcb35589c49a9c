// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// assetsVariable names the environment variable that controller-runtime's envtest takes its binaries from, too.
const assetsVariable = "KUBEBUILDER_ASSETS"

// binaries is a directory with the programs of one control plane, and how it was found.
type binaries struct {
	dir, source string
}

func (b *binaries) path(name Component) string { return filepath.Join(b.dir, string(name)) }

// Ensure finds the binaries of a Kubernetes minor version ("" means DefaultVersion) or builds them, as Start would, and returns their
// directory. Without components it wants all four, so that nothing is left to build for any Options. Progress goes to log; nil
// means os.Stderr.
func Ensure(ctx context.Context, version string, log io.Writer, components ...Component) (string, error) {
	if err := supported(); err != nil {
		return "", err
	}
	if _, err := releaseOf(version); err != nil {
		return "", fmt.Errorf("controlplane: version: %w", err)
	}
	for _, name := range components {
		if !slices.Contains(allComponents(), name) {
			return "", fmt.Errorf("controlplane: component %q: must be among %v", name, allComponents())
		}
	}
	if len(components) == 0 {
		components = allComponents()
	}
	if log == nil {
		log = os.Stderr
	}
	found, err := findBinaries(ctx, version, components, &logger{w: log})
	if err != nil {
		return "", err
	}
	return found.dir, nil
}

// findBinaries looks where this process's environment says.
func findBinaries(ctx context.Context, version string, need []Component, log *logger) (*binaries, error) {
	rel, err := releaseOf(version)
	if err != nil {
		return nil, err
	}
	userCache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("controlplane: no cache directory: %w", err)
	}
	f := &finder{
		release:  rel,
		explicit: version != "",
		need:     need,
		log:      log,
		assets:   os.Getenv(assetsVariable),
		cache:    filepath.Join(userCache, "freshwatch", "controlplane"),
		download: setupEnvtest,
		build:    buildRelease,
	}
	found, err := f.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	log.printf("using kube-apiserver from %s (%s)", found.dir, found.source)
	return found, nil
}

// finder looks for the binaries of a release in one place after the other. All come from the same place, so that their versions agree.
type finder struct {
	release  release
	explicit bool // the version was asked for, not assumed
	need     []Component
	log      *logger
	assets   string // value of KUBEBUILDER_ASSETS
	cache    string // parent of the releases' directories

	download func(ctx context.Context, r release, need []Component) (dir string, err error)
	build    func(ctx context.Context, r release, need []Component, cache string, log *logger) error
}

func (f *finder) find(ctx context.Context) (*binaries, error) {
	if f.assetsUsable(ctx) {
		return &binaries{f.assets, assetsVariable}, nil
	}
	own := filepath.Join(f.cache, f.release.key())
	if len(missing(own, f.need)) == 0 {
		return &binaries{own, "cache"}, nil
	}
	dir, err := f.download(ctx, f.release, f.need)
	switch {
	case err == nil && len(missing(dir, f.need)) == 0:
		return &binaries{dir, "setup-envtest"}, nil
	case err != nil && !errors.Is(err, errNoSetupEnvtest):
		f.log.printf("setup-envtest: %v: building instead", err)
	}
	if err := f.build(ctx, f.release, f.need, f.cache, f.log); err != nil {
		return nil, err
	}
	return &binaries{own, "built"}, nil
}

// assetsUsable tells whether KUBEBUILDER_ASSETS holds what is needed, and says so if it is set and does not.
func (f *finder) assetsUsable(ctx context.Context) bool {
	if f.assets == "" {
		return false
	}
	if absent := missing(f.assets, f.need); len(absent) > 0 {
		f.log.printf("%s (%s) lacks %s: looking elsewhere", assetsVariable, f.assets, join(absent))
		return false
	}
	if !f.explicit {
		return true
	}
	version, err := kubernetesVersion(ctx, filepath.Join(f.assets, string(APIServer)))
	if err != nil || !strings.HasPrefix(version, "v"+f.release.minor+".") {
		f.log.printf("%s (%s) holds Kubernetes %q, not %s: looking elsewhere", assetsVariable, f.assets, version, f.release.minor)
		return false
	}
	return true
}

// missing lists the programs that are not in dir.
func missing(dir string, need []Component) []Component {
	return slices.DeleteFunc(slices.Clone(need), func(name Component) bool {
		info, err := os.Stat(filepath.Join(dir, string(name)))
		return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
	})
}

// join writes components as a list for people.
func join(names []Component) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = string(name)
	}
	return strings.Join(words, ", ")
}
