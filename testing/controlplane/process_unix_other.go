// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package controlplane

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// ownGroup puts a process into a group of its own, away from the terminal's signals. These systems have no death signal: a caller that
// is itself killed leaves the components behind.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// isStopped tells whether the process is stopped.
func isStopped(pid int) (bool, error) {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return strings.HasPrefix(strings.TrimSpace(string(state)), "T"), err
}
