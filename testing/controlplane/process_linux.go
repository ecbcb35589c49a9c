// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ownGroup puts a process into a group of its own, away from the terminal's signals, and has it killed when this process dies, however
// it dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// isStopped tells whether every thread of the process is stopped.
func isStopped(pid int) (bool, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		return false, fmt.Errorf("process %d is gone", pid)
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
			return false, nil // The thread ended in between: look again.
		case err != nil:
			return false, err
		}
		// The state is the field after the command, which is in parentheses and may itself contain some.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) == 0 || string(fields[0]) != "T" {
			return false, nil
		}
	}
	return true, nil
}
