// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// killTimeout bounds the wait for a killed process to be gone. Only one that hangs in the kernel, on a dead disk, takes longer.
const killTimeout = 10 * time.Second

// process is one run of a program, in a process group of its own.
type process struct {
	pid  int
	done chan struct{} // closed when the process has been reaped
	err  error         // how it ended; valid once done is closed
}

// startProcess runs a program with its output appended to log. It ends with this process as well as the system allows.
func startProcess(path string, args []string, log *os.File) (*process, error) {
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = componentEnv()
	cmd.SysProcAttr = ownGroup()

	p := &process{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// On Linux the death signal is bound to the thread that started the process: keep that thread until the process is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, <-started
}

// exited tells whether the process has ended.
func (p *process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the process group at once, paused or not, and waits until it is gone.
func (p *process) kill() error {
	if p.exited() {
		return nil
	}
	if err := killGroup(p.pid); err != nil && !p.exited() {
		return err
	}
	timer := time.NewTimer(killTimeout)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return errors.New("still there " + killTimeout.String() + " after it was killed")
	}
}

// componentEnv is what a component sees of the environment. etcd takes any ETCD_*, and every Kubernetes binary KUBE_FEATURE_*,
// HTTP2_* and GODEBUG, for its own: what a user sets for a test is not meant for the servers, so only harmless names pass.
func componentEnv() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GOMAXPROCS", "GOMEMLIMIT", "GOGC"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
