// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package restartlease

import (
	"fmt"
	"os"
	"strings"
)

// NamespaceFile is where the kubelet tells a pod its namespace.
const NamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// Namespace returns given, the value of an option, or what file says where that is
// empty.
func Namespace(option, given, file string) (string, error) {
	if given != "" {
		return given, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s is empty, and this process does not run in a pod: set it to the namespace of the Lease (%w)", option, err)
	}
	return strings.TrimSpace(string(text)), nil
}
