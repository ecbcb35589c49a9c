// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"strings"
)

// DefaultVersion is the Kubernetes minor version that is started when none is asked for: the one whose client-go this module uses.
const DefaultVersion = "1.37"

// release is one supported minor version, pinned to a patch so that a build can be repeated.
type release struct {
	minor      string
	kubernetes string // version of the module k8s.io/kubernetes, without the "v"
	etcd       string // version of go.etcd.io/etcd/server/v3 that its go.mod requires
}

// releases is the one place where versions are pinned, newest first.
func releases() []release {
	return []release{
		{minor: "1.37", kubernetes: "1.37.2", etcd: "3.7.0"},
		{minor: "1.36", kubernetes: "1.36.3", etcd: "3.6.8"},
		{minor: "1.35", kubernetes: "1.35.4", etcd: "3.6.5"},
		{minor: "1.34", kubernetes: "1.34.4", etcd: "3.6.4"},
	}
}

// releaseOf returns the release for a minor version; "" means DefaultVersion.
func releaseOf(minor string) (release, error) {
	if minor == "" {
		minor = DefaultVersion
	}
	known := make([]string, 0, len(releases()))
	for _, r := range releases() {
		if r.minor == minor {
			return r, nil
		}
		known = append(known, r.minor)
	}
	return release{}, fmt.Errorf("%q: must be a Kubernetes minor version among %s", minor, strings.Join(known, ", "))
}

func (r release) String() string { return "Kubernetes " + r.kubernetes }

func (r release) key() string { return r.kubernetes + "-etcd" + r.etcd }

func (r release) effort() string { return "ten minutes" }

func (r release) mainPackage(name Component) string {
	if name == Etcd {
		return etcdModule
	}
	return kubernetesModule + "/cmd/" + string(name)
}

// ldflags strips what only a debugger needs and sets the version, which Kubernetes's own build takes from git.
func (r release) ldflags() []string {
	major, rest, _ := strings.Cut(r.kubernetes, ".")
	minor, _, _ := strings.Cut(rest, ".")
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X "+pkg+".gitVersion=v"+r.kubernetes,
			"-X "+pkg+".gitMajor="+major,
			"-X "+pkg+".gitMinor="+minor)
	}
	return flags
}

func (r release) goMod(ctx context.Context, c *goCompiler) ([]byte, error) {
	described, err := c.describe(ctx, kubernetesModule, r.kubernetes)
	if err != nil {
		return nil, err
	}
	return generateMod(r, described)
}

// staging is the version of the k8s.io/* modules that belong to the release: v0 where Kubernetes has v1.
func (r release) staging() string { return "v0" + strings.TrimPrefix(r.kubernetes, "1") }
