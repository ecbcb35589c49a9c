// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import "context"

// source is what programs are built from: a module with one set of requirements. Programs whose requirements must not influence each
// other come from different sources.
type source interface {
	// String names it for people, such as "Kubernetes 1.37.2".
	String() string
	// key names its directory in the cache.
	key() string
	// effort is how long a first build was seen to take on two idle cores.
	effort() string
	// goMod returns the go.mod of a module that builds it, made with the help of c.
	goMod(ctx context.Context, c *goCompiler) ([]byte, error)
	// mainPackage is where the program of a component is.
	mainPackage(name Component) string
	// ldflags are the linker's flags.
	ldflags() []string
}
