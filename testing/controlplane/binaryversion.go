// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// versionTimeout bounds "kube-apiserver --version", which answers in a fraction of a second.
const versionTimeout = 20 * time.Second

// kubernetesVersion asks a Kubernetes binary for its version, such as "v1.37.2".
func kubernetesVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(strings.TrimSpace(string(output)), "Kubernetes "), nil
}
