// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// helperJob is the environment variable that makes this program the informers of a
// row, in a process of their own that can be stopped. It holds an errand in JSON.
const helperJob = "FRESHWATCH_FAULTS_HELPER"

// errand is what a helper has to do: run a job until its standard input ends, and
// write a snapshot a line to its standard output whenever there is something new.
type errand struct {
	Guarded, Stock string // kubeconfig files
	Job            job
}

// playHelper is the helper's main.
func playHelper(text string, stdin io.Reader, stdout io.Writer) error {
	var e errand
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	guarded, err := clientcmd.BuildConfigFromFlags("", e.Guarded)
	if err != nil {
		return err
	}
	stock, err := clientcmd.BuildConfigFromFlags("", e.Stock)
	if err != nil {
		return err
	}
	guarded.UserAgent, stock.UserAgent = guardedAgent, stockAgent
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	t, err := startTwins(ctx, guarded, stock, e.Job)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { t.report(ctx, stdout) })
	_, err = io.Copy(io.Discard, stdin)
	cancel()
	wg.Wait()
	return errors.Join(err, t.close())
}

// report writes what is new until ctx ends or nobody reads it.
func (t *twins) report(ctx context.Context, to io.Writer) {
	var told string
	poll.Until(ctx, 24*time.Hour, func() bool {
		line, err := json.Marshal(t.snapshot())
		if err != nil || string(line) == told {
			return err != nil
		}
		told = string(line)
		_, err = fmt.Fprintln(to, told)
		return err != nil
	})
}

// helper is a cast in another process.
type helper struct {
	cmd   *exec.Cmd
	stdin io.Closer
	dir   string
	wg    sync.WaitGroup

	mu   sync.Mutex
	last snapshot
	err  error
}

// startHelper runs a job in another process.
func startHelper(ctx context.Context, guarded, stock *rest.Config, j job) (_ *helper, err error) {
	h := &helper{}
	if h.dir, err = os.MkdirTemp("", "freshwatch-faults-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(h.dir))
		}
	}()
	e := errand{Guarded: filepath.Join(h.dir, "guarded"), Stock: filepath.Join(h.dir, "stock"), Job: j}
	if err := errors.Join(controlplane.WriteKubeconfig(e.Guarded, guarded), controlplane.WriteKubeconfig(e.Stock, stock)); err != nil {
		return nil, err
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h.cmd = exec.CommandContext(context.WithoutCancel(ctx), exe)
	h.cmd.Env = append(os.Environ(), helperJob+"="+string(text))
	h.cmd.Stderr = os.Stderr
	// Away from this process's group, so that the kernel hangs up on it, stopped or
	// not, should this one die.
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	h.wg.Go(func() { h.read(stdout) })
	return h, nil
}

func (h *helper) read(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var s snapshot
		err = json.Unmarshal(line, &s)
		h.mu.Lock()
		h.last, h.err = s, errors.Join(h.err, err)
		h.mu.Unlock()
	}
}

// snapshot implements cast.
func (h *helper) snapshot() snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// signal sends the process a signal.
func (h *helper) signal(s syscall.Signal) error { return h.cmd.Process.Signal(s) }

// close implements cast.
func (h *helper) close() error {
	_ = h.stdin.Close()
	_ = h.cmd.Process.Kill() // also one that is stopped
	h.wg.Wait()
	_ = h.cmd.Wait() // it was killed
	h.mu.Lock()
	defer h.mu.Unlock()
	return errors.Join(h.err, os.RemoveAll(h.dir))
}
