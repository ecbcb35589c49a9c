// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"slices"
	"strings"
)

// mergeFlags returns the defaults without those that extra names again, followed by extra.
func mergeFlags(defaults, extra []string) []string {
	replaced := make(map[string]bool, len(extra))
	for _, arg := range extra {
		replaced[flagName(arg)] = true
	}
	kept := slices.DeleteFunc(slices.Clone(defaults), func(arg string) bool { return replaced[flagName(arg)] })
	return append(kept, extra...)
}

// flagName is the name in "--name=value", in the spelling that Kubernetes normalises to.
func flagName(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return strings.ReplaceAll(name, "_", "-")
}
