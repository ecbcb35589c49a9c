// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package kubebuilder

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// process is a program that runs until the test ends, or ends it by itself.
type process struct {
	name    string
	ended   chan struct{} // closed when it has
	logFile string
	command *exec.Cmd
}

func startProcess(t *testing.T, name, program string, args ...string) *process {
	t.Helper()
	p := &process{name: name, ended: make(chan struct{}), logFile: filepath.Join(t.TempDir(), name+".log")}
	log, err := os.Create(p.logFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { report(t, log.Close()) })
	p.command = exec.Command(program, args...)
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = endWithTest()
	started := make(chan error, 1)
	go func() {
		// On Linux it ends with the thread that has started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		err := p.command.Start()
		started <- err
		if err == nil {
			_ = p.command.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) })
	return p
}

// stop ends it as a kubelet does.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if p.hasEnded() {
		t.Errorf("%s has ended by itself", p.name)
	}
	_ = p.command.Process.Signal(syscall.SIGTERM)
	grace := time.AfterFunc(10*time.Second, func() { // terminationGracePeriodSeconds
		t.Errorf("%s does not end", p.name)
		_ = p.command.Process.Kill()
	})
	defer grace.Stop()
	<-p.ended
	if t.Failed() {
		t.Logf("%s said:\n%s", p.name, p.log(t))
	}
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// log returns what it has printed.
func (p *process) log(t *testing.T) string {
	t.Helper()
	return readFile(t, p.logFile)
}
