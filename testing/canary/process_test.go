// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// process is the test's end of a replica.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer
	ended  chan struct{} // closed when the process has ended, and with it all reports are here
	ending atomic.Bool   // it was told to end

	mu      sync.Mutex
	reports []report
}

// startProcess starts a replica. The caller ends it with kill.
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
	go func() {
		p.read(t, stdout)
		_ = p.cmd.Wait() // killed, or its leadership was lost
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
	p.ending.Store(true)
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
	p.ending.Store(true)
	_ = p.cmd.Process.Kill()
	_ = p.stdin.Close()
	<-p.ended
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// told returns the reports so far.
func (p *process) told() []report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.reports)
}

// last returns the newest report that is one of those asked for.
func (p *process) last(is func(report) bool) report {
	told := p.told()
	for _, r := range slices.Backward(told) {
		if is(r) {
			return r
		}
	}
	return report{}
}

func (p *process) address() string {
	return p.last(func(r report) bool { return r.Address != "" }).Address
}

func (p *process) sees() string { return p.last(func(r report) bool { return r.Sees != "" }).Sees }

func (p *process) leads() bool { return p.last(func(r report) bool { return r.Leads }).Leads }

// reading returns what the canary says now.
func (p *process) reading() reading {
	if r := p.last(func(r report) bool { return r.Reading != nil }).Reading; r != nil {
		return *r
	}
	return reading{}
}

// logged tells whether the canary has logged something.
func (p *process) logged(part string) bool {
	return slices.ContainsFunc(p.told(), func(r report) bool { return strings.Contains(r.Log, part) })
}

// spell is a time in which the canary's state was the same.
type spell struct {
	at    time.Time
	state string
}

func (s spell) String() string { return s.at.Format("15:04:05.0 ") + s.state }

// spells returns the states, in order.
func (p *process) spells() (out []spell) {
	for _, r := range p.told() {
		if r.Reading != nil && (len(out) == 0 || out[len(out)-1].state != r.Reading.State) {
			out = append(out, spell{r.At, r.Reading.State})
		}
	}
	return out
}

// states returns the states without their times.
func (p *process) states() (out []string) {
	for _, s := range p.spells() {
		out = append(out, s.state)
	}
	return out
}

// unalive returns when Check failed first, and why.
func (p *process) unalive() (at time.Time, why string) {
	for _, r := range p.told() {
		if r.Reading != nil && r.Reading.Liveness != "" {
			return r.At, r.Reading.Liveness
		}
	}
	return time.Time{}, ""
}
