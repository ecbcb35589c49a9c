// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// helper is the test's end of a helper process.
type helper struct {
	cmd *exec.Cmd

	mu      sync.Mutex
	reports []report
}

// startHelper starts a helper process that ends with the test.
func startHelper(t *testing.T, cfg *rest.Config, j job) *helper {
	t.Helper()
	j.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(j.Kubeconfig, cfg); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &helper{cmd: exec.Command(exe)}
	h.cmd.Env = append(os.Environ(), helperJob+"="+string(text))
	h.cmd.Stderr = os.Stderr
	// Away from the test's process group, so that the kernel hangs up on it, stopped
	// or not, should the test die.
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { h.read(t, stdout) })
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = h.cmd.Process.Kill() // also one that is stopped
		wg.Wait()
		_ = h.cmd.Wait()
	})
	return h
}

func (h *helper) read(t *testing.T, from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("the helper said %q: %v", lines.Text(), err)
			continue
		}
		h.mu.Lock()
		h.reports = append(h.reports, r)
		h.mu.Unlock()
	}
}

// told returns the reports so far.
func (h *helper) told() []report {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.reports)
}

// history returns the events among them.
func (h *helper) history() history {
	var out history
	for _, r := range h.told() {
		if r.Event != nil {
			out = append(out, r.Event.event())
		}
	}
	return out
}

// failures returns what failed in the helper.
func (h *helper) failures() []string {
	var out []string
	for _, r := range h.told() {
		if r.Failure != "" {
			out = append(out, fmt.Sprintf("%s at %s", r.Failure, r.At.Format(time.TimeOnly)))
		}
	}
	return out
}

// seen tells when the object was seen in a color.
func (h *helper) seen(color string) (time.Time, bool) {
	for _, r := range h.told() {
		if r.Sees == color {
			return r.At, true
		}
	}
	return time.Time{}, false
}

// signal sends a signal to the helper.
func (h *helper) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := h.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
