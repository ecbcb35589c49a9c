// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is the test's end of a replica.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed when the process has ended, and with it all reports are here

	mu      sync.Mutex
	reports []report
}

// startProcess starts a replica. The caller ends it with terminate or kill.
func startProcess(t *testing.T, s spec) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	p := &process{name: s.Name, cmd: exec.Command(exe), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), replicaVariable+"=1")
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
	go func() {
		p.read(t, stdout)
		_ = p.cmd.Wait() // it ends with an error where a reconcile is wedged
		close(p.ended)
	}()
	if _, err := fmt.Fprintln(stdin, string(text)); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func (p *process) read(t *testing.T, from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("%s said %q: %v", p.name, lines.Text(), err)
			continue
		}
		p.mu.Lock()
		p.reports = append(p.reports, r)
		p.mu.Unlock()
	}
}

// terminate is what a kubelet does: it asks, and does not ask for ever.
func (p *process) terminate() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	grace := time.NewTimer(30 * time.Second)
	defer grace.Stop()
	select {
	case <-p.ended:
	case <-grace.C:
	}
	p.kill()
}

// kill ends the process at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.stdin.Close()
	<-p.ended
}

// told returns the reports so far.
func (p *process) told() []report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.reports)
}

func (p *process) address() string {
	for _, r := range p.told() {
		if r.Address != "" {
			return r.Address
		}
	}
	return ""
}
