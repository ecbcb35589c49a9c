// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package reconciles

import (
	"os/exec"
	"syscall"
)

// detach takes a process away from the test's process group, so that what ends the test
// from a terminal ends it by the end of its standard input, in order.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
