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
	kine        string // the directory of kine, where it is needed
}

func (b *binaries) path(name Component) string {
	if name == Kine {
		return filepath.Join(b.kine, string(name))
	}
	return filepath.Join(b.dir, string(name))
}

// Ensure finds the binaries of a Kubernetes minor version ("" means DefaultVersion) or builds them, as Start would, and returns their
// directory. Without components it wants the four of Kubernetes, so that nothing is left to build for any Options with etcd. Kine is
// of no Kubernetes version and lies in a directory of its own, which is returned where nothing else is asked for. Progress goes to
// log; nil means os.Stderr.
func Ensure(ctx context.Context, version string, log io.Writer, components ...Component) (string, error) {
	if err := supported(); err != nil {
		return "", err
	}
	if _, err := releaseOf(version); err != nil {
		return "", fmt.Errorf("controlplane: version: %w", err)
	}
	for _, name := range components {
		if known := append(allComponents(), Kine); !slices.Contains(known, name) {
			return "", fmt.Errorf("controlplane: component %q: must be among %v", name, known)
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
	if found.dir == "" {
		return found.kine, nil
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
		build:    buildSource,
	}
	found, err := f.findAll(ctx)
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	return found, nil
}

// finder looks for the binaries of a release in one place after the other. All come from the same place, so that their versions agree;
// kine, of which every version goes with every release, comes from the cache.
type finder struct {
	release  release
	explicit bool // the version was asked for, not assumed
	need     []Component
	log      *logger
	assets   string // value of KUBEBUILDER_ASSETS
	cache    string // parent of the releases' directories

	download func(ctx context.Context, r release, need []Component) (dir string, err error)
	build    func(ctx context.Context, s source, need []Component, cache string, log *logger) error
}

// findAll finds the release's binaries and kine, each if it is needed.
func (f *finder) findAll(ctx context.Context) (*binaries, error) {
	found := &binaries{}
	var err error
	needKine := slices.Contains(f.need, Kine)
	f.need = slices.DeleteFunc(slices.Clone(f.need), func(name Component) bool { return name == Kine })
	if len(f.need) > 0 {
		if found, err = f.find(ctx); err != nil {
			return nil, err
		}
		f.log.printf("using kube-apiserver from %s (%s)", found.dir, found.source)
	}
	if needKine {
		if found.kine, err = f.findKine(ctx); err != nil {
			return nil, err
		}
		f.log.printf("using kine from %s", found.kine)
	}
	return found, nil
}

// findKine returns kine's directory in the cache.
func (f *finder) findKine(ctx context.Context) (string, error) {
	need, dir := []Component{Kine}, filepath.Join(f.cache, kineSource{}.key())
	if len(missing(dir, need)) == 0 {
		return dir, nil
	}
	return dir, f.build(ctx, kineSource{}, need, f.cache, f.log)
}

// find finds the release's binaries.
func (f *finder) find(ctx context.Context) (*binaries, error) {
	if f.assetsUsable(ctx) {
		return &binaries{dir: f.assets, source: assetsVariable}, nil
	}
	own := filepath.Join(f.cache, f.release.key())
	if len(missing(own, f.need)) == 0 {
		return &binaries{dir: own, source: "cache"}, nil
	}
	dir, err := f.download(ctx, f.release, f.need)
	switch {
	case err == nil && len(missing(dir, f.need)) == 0:
		return &binaries{dir: dir, source: "setup-envtest"}, nil
	case err != nil && !errors.Is(err, errNoSetupEnvtest):
		f.log.printf("setup-envtest: %v: building instead", err)
	}
	if err := f.build(ctx, f.release, f.need, f.cache, f.log); err != nil {
		return nil, err
	}
	return &binaries{dir: own, source: "built"}, nil
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
