// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds what the kernel or another process is expected to do at once.
const patience = 30 * time.Second

// eventually polls until done, for conditions in other processes, which nothing announces.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline.C:
			t.Fatalf("not within %v: %s", patience, what)
		case <-tick.C:
		}
	}
}

// alive tells whether a process exists and is not a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "process "+strconv.Itoa(pid)+" is gone", func() bool { return !alive(pid) })
}

func readPID(t *testing.T, path string) int {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// readyPipe calls do when a process writes to the named pipe at path, which it makes.
func readyPipe(t *testing.T, path string, do func()) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = os.ReadFile(path)
		do()
	}()
	t.Cleanup(func() { <-done })
}
