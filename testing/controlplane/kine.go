// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
)

// kineModule is where kine comes from: k3s's shim that speaks etcd's protocol and keeps everything in an SQL database.
const kineModule = "github.com/k3s-io/kine"

// kineVersion is the release of kine, pinned so that a build can be repeated. It goes with every release of Kubernetes.
const kineVersion = "0.17.5"

// kineSource builds kine. It has a module of its own, since together with Kubernetes each would raise the other's dependencies.
type kineSource struct{}

func (kineSource) String() string { return "kine " + kineVersion }

func (kineSource) key() string { return "kine" + kineVersion }

func (kineSource) effort() string { return "two minutes" }

func (kineSource) mainPackage(Component) string { return kineModule }

func (kineSource) ldflags() []string {
	return []string{"-s", "-w", "-X " + kineModule + "/pkg/version.Version=v" + kineVersion}
}

// goMod takes over kine's language version, which decides on GODEBUG defaults.
func (s kineSource) goMod(ctx context.Context, c *goCompiler) ([]byte, error) {
	described, err := c.describe(ctx, kineModule, kineVersion)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "module %s\n\ngo %s\n\nrequire %s v%s\n", generatedModule, described.Go, kineModule, kineVersion), nil
}
