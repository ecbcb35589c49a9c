// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package subprocess

import (
	"os/exec"
	"syscall"
)

// detach takes a process away from the test's process group, so that the kernel hangs
// up on it, stopped or not, should the test die.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
