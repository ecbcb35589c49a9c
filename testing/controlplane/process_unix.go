// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"context"
	"syscall"
	"time"
)

// supported is nil where processes can be grouped, stopped and continued.
func supported() error { return nil }

// killGroup kills every process of the group that pid leads.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// continueGroup lets a stopped group run again.
func continueGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGCONT) }

// stopGroup stops the group that pid leads and returns when no thread of it runs any more: the signal alone returns earlier.
func stopGroup(ctx context.Context, pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGSTOP); err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		stopped, err := isStopped(pid)
		if stopped || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
