// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"strings"
)

// The modules that the binaries come from, and the name of the generated one that requires them.
const (
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"
	generatedModule  = "freshwatch.local/controlplane"
)

// modFile is what "go mod edit -json" prints of a go.mod, as far as it matters here.
type modFile struct {
	Go      string
	Godebug []struct{ Key, Value string }
	Require []struct{ Path, Version string }
	Replace []struct {
		Old struct{ Path string }
		New struct{ Path string }
	}
}

// generateMod returns a go.mod that builds the release. Its argument is the go.mod of k8s.io/kubernetes, which points its own modules to
// ./staging, directories that are not in its zip, and here each is replaced by its published twin. Language version and GODEBUG
// defaults are taken over, so that the binaries behave as the released ones.
func generateMod(r release, kubernetes modFile) ([]byte, error) {
	if required := kubernetes.version(etcdModule); required != "v"+r.etcd {
		return nil, fmt.Errorf("go.mod of %v requires etcd %q, this package expects v%s", r, required, r.etcd)
	}
	staging := kubernetes.staging()
	if len(staging) == 0 {
		return nil, fmt.Errorf("go.mod of %v replaces no staging module", r)
	}

	var out strings.Builder
	fmt.Fprintf(&out, "module %s\n\ngo %s\n\n", generatedModule, kubernetes.Go)
	for _, setting := range kubernetes.Godebug {
		fmt.Fprintf(&out, "godebug %s=%s\n", setting.Key, setting.Value)
	}
	fmt.Fprintf(&out, "require %s v%s\n", kubernetesModule, r.kubernetes)
	fmt.Fprintf(&out, "require %s v%s\n", etcdModule, r.etcd)
	for _, path := range staging {
		fmt.Fprintf(&out, "replace %s => %s %s\n", path, path, r.staging())
	}
	return []byte(out.String()), nil
}

// version returns the required version of a module, "" if there is none.
func (m *modFile) version(path string) string {
	for _, require := range m.Require {
		if require.Path == path {
			return require.Version
		}
	}
	return ""
}

// staging lists the modules that live in Kubernetes's own tree.
func (m *modFile) staging() []string {
	var paths []string
	for _, replace := range m.Replace {
		if strings.HasPrefix(replace.New.Path, "./staging/") {
			paths = append(paths, replace.Old.Path)
		}
	}
	return paths
}
