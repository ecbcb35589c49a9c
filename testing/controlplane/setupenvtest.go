// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// setupEnvtestTimeout bounds the download of some 80 MB; where the site cannot be reached, a name lookup fails long before.
const setupEnvtestTimeout = time.Minute

// errNoSetupEnvtest says that setup-envtest is no choice here, which needs no remark.
var errNoSetupEnvtest = errors.New("not available")

// setupEnvtest has controller-runtime's setup-envtest find or download the release, if the command is installed. Its archives have
// etcd and kube-apiserver only.
func setupEnvtest(ctx context.Context, r release, need []Component) (string, error) {
	if slices.Contains(need, ControllerManager) || slices.Contains(need, Scheduler) {
		return "", errNoSetupEnvtest
	}
	path, err := exec.LookPath("setup-envtest")
	if err != nil {
		return "", errNoSetupEnvtest
	}
	ctx, cancel := context.WithTimeout(ctx, setupEnvtestTimeout)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := groupCommand(ctx, path, "use", r.minor+".x", "--print", "path")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = runLocked(cmd)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("no answer within %v", setupEnvtestTimeout)
	case err != nil:
		return "", fmt.Errorf("%w: %s", err, lastLine(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
