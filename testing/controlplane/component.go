// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// probeInterval is how often a starting component is asked whether it is ready.
const probeInterval = 25 * time.Millisecond

// errPortTaken marks the failure of a component that could not listen on its port.
var errPortTaken = errors.New("port already in use")

// component is one program of the control plane. Its command line is fixed, ports included, so it can be stopped and started again in
// the same place.
type component struct {
	name    Component
	path    string
	args    []string
	port    int
	logPath string
	timeout time.Duration // from start to ready

	// How to tell that it is ready: what its log says then, if that is not empty, and what returns nil then, if that is not nil.
	announces string
	probe     func(context.Context) error

	proc      *process
	logOffset int64 // where the log of the current run begins
	paused    bool
}

// start runs the program and waits until it is ready. After an error it does not run.
func (c *component) start(ctx context.Context) error {
	log, err := os.OpenFile(c.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // The process has its own descriptor.
	if c.logOffset, err = log.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	proc, err := startProcess(c.path, c.args, log)
	if err != nil {
		return fmt.Errorf("cannot start %s: %w", c.name, err)
	}
	c.proc, c.paused = proc, false
	if err := c.waitReady(ctx); err != nil {
		return errors.Join(err, c.kill())
	}
	return nil
}

// waitReady polls the probe until it succeeds, the process ends, or time is up.
func (c *component) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("not ready within %v", c.timeout))
	defer cancel()
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	for {
		probeErr := c.ready(ctx)
		if probeErr == nil && !c.proc.exited() {
			return nil
		}
		select {
		case <-c.proc.done:
			return c.died()
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: last answer: %w; its log ends with:%s",
				c.name, context.Cause(ctx), probeErr, excerpt(runLog(c.logPath, c.logOffset)))
		case <-tick.C:
		}
	}
}

// ready returns nil if the program is.
func (c *component) ready(ctx context.Context) error {
	if c.announces != "" && !strings.Contains(runLog(c.logPath, c.logOffset), c.announces) {
		return fmt.Errorf("it has not said %q", c.announces)
	}
	if c.probe == nil {
		return nil
	}
	return c.probe(ctx)
}

// died describes the end of a process that was not asked to end.
func (c *component) died() error {
	text := runLog(c.logPath, c.logOffset)
	switch {
	case strings.Contains(text, "address already in use"):
		return fmt.Errorf("%s: port %d on 127.0.0.1: %w", c.name, c.port, errPortTaken)
	case strings.Contains(text, diskFull):
		return fmt.Errorf("%s ended: %w: its files are in %s", c.name, errDiskFull, filepath.Dir(c.logPath))
	}
	how := "exit status 0"
	if c.proc.err != nil {
		how = c.proc.err.Error()
	}
	return fmt.Errorf("%s ended: %s; its log ends with:%s", c.name, how, excerpt(text))
}

// kill ends the program if it runs.
func (c *component) kill() error {
	if c.proc == nil {
		return nil
	}
	if err := c.proc.kill(); err != nil {
		return fmt.Errorf("cannot stop %s (pid %d): %w", c.name, c.proc.pid, err)
	}
	c.proc, c.paused = nil, false
	return nil
}

// pause stops the program where it is. It returns when no instruction of it is executed any more.
func (c *component) pause(ctx context.Context) error {
	if err := c.running(); err != nil {
		return err
	}
	if err := stopGroup(ctx, c.proc.pid); err != nil {
		return errors.Join(fmt.Errorf("cannot stop its process: %w", err), continueGroup(c.proc.pid))
	}
	c.paused = true
	return nil
}

// resume lets a paused program run on.
func (c *component) resume() error {
	if err := c.running(); err != nil {
		return err
	}
	if err := continueGroup(c.proc.pid); err != nil {
		return err
	}
	c.paused = false
	return nil
}

// running returns nil if the program runs, paused or not.
func (c *component) running() error {
	if c.proc == nil {
		return errors.New("not running")
	}
	if c.proc.exited() {
		return c.died()
	}
	return nil
}
