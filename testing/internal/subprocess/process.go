// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package subprocess runs the test binary once more, as a process that can be signalled and
// restarted, and reads what it reports.
package subprocess

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Process is the test's end of a replica, which gets its orders as one line of JSON on
// standard input, and reports in lines of JSON on standard output. It has to end when its
// input does.
type Process[report any] struct {
	Name  string
	PID   int
	Ended chan struct{} // closed when it has ended, and with it all reports are here

	cmd    *exec.Cmd
	stdin  io.Closer
	ending atomic.Bool // it was told to end

	mu      sync.Mutex
	reports []report
}

// Start starts a replica, whose TestMain finds variable in its environment. The caller
// ends it with Terminate or Kill.
func Start[report any](t *testing.T, name, variable string, orders any) (*Process[report], error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(orders)
	if err != nil {
		return nil, err
	}
	p := &Process[report]{Name: name, cmd: exec.Command(exe), Ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), variable+"=1")
	p.cmd.Stderr = os.Stderr
	detach(p.cmd)
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.PID = p.cmd.Process.Pid
	go func() {
		p.read(t, stdout)
		_ = p.cmd.Wait() // killed, or it gave up by itself
		close(p.Ended)
	}()
	if _, err := fmt.Fprintln(stdin, string(text)); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

func (p *Process[report]) read(t *testing.T, from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20) // a report may have a stack in it
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("%s said %q: %v", p.Name, lines.Text(), err)
			continue
		}
		p.mu.Lock()
		p.reports = append(p.reports, r)
		p.mu.Unlock()
	}
}

// Terminate is what a kubelet does: it asks, and does not ask for ever.
func (p *Process[report]) Terminate() {
	p.ending.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	grace := time.NewTimer(30 * time.Second)
	defer grace.Stop()
	select {
	case <-p.Ended:
	case <-grace.C:
	}
	p.Kill()
}

// Kill ends the process at once.
func (p *Process[report]) Kill() {
	p.ending.Store(true)
	_ = p.cmd.Process.Kill()
	_ = p.stdin.Close()
	<-p.Ended
}

// Signal sends it a signal.
func (p *Process[report]) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// WasTold tells whether it was told to end.
func (p *Process[report]) WasTold() bool { return p.ending.Load() }

// HasEnded tells whether it has ended, by itself or not.
func (p *Process[report]) HasEnded() bool {
	select {
	case <-p.Ended:
		return true
	default:
		return false
	}
}

// Reports returns the reports so far, the oldest first.
func (p *Process[report]) Reports() []report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.reports)
}

// Last returns the newest report that is one of those asked for.
func (p *Process[report]) Last(is func(report) bool) (last report) {
	for _, r := range slices.Backward(p.Reports()) {
		if is(r) {
			return r
		}
	}
	return last
}
