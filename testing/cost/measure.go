// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

const (
	stock     = "stock"
	monitored = "monitor"
)

// measure runs every process after the other, and reports.
func measure(ctx context.Context, opts options, stdout, stderr io.Writer) (err error) {
	s, err := newStage(ctx, opts, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { s.renew(ctx) })

	rep := newReport(opts)
	for _, l := range opts.limits {
		for _, program := range opts.programs {
			f, err := s.measure(ctx, opts, program, l, stderr)
			if err != nil {
				return fmt.Errorf("%s, rate limit %v: %w", program, l, err)
			}
			rep.Processes = append(rep.Processes, f)
			if err := rep.write(opts.json); err != nil { // a long run that is broken off leaves what it has
				return err
			}
		}
	}
	rep.judge()
	if err := rep.write(opts.json); err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, rep.table()); err != nil {
		return err
	}
	return rep.broken()
}

// measure runs one process.
func (s *stage) measure(ctx context.Context, opts options, program string, l limit, stderr io.Writer) (*figures, error) {
	j := job{
		Kubeconfig: s.kubeconfig, Kinds: opts.kinds, Namespaces: s.namespaces, Monitor: program == monitored,
		QPS: l.qps, Burst: l.burst, Settle: opts.settle, Measure: opts.measure,
	}
	if l.qps == 0 {
		j.QPS = -1
	}
	if opts.profiles != "" {
		j.Profile = filepath.Join(opts.profiles, program+"-"+strings.ReplaceAll(l.String(), "/", "-")+".pprof")
	}
	load := loadAverage()
	c, err := startChild(ctx, j, stderr)
	if err != nil {
		return nil, err
	}
	defer c.end()
	if _, err := c.next(); err != nil {
		return nil, err
	}
	before, err := s.account(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stderr, "cost: %s, rate limit %v: settled, measuring for %v\n", program, l, opts.measure)
	msg, err := c.next()
	if err != nil {
		return nil, err
	}
	if msg.Figures == nil {
		return nil, errors.New("the process sent no figures")
	}
	after, err := s.account(ctx)
	if err != nil {
		return nil, err
	}
	f := msg.Figures
	f.Program, f.Limit, f.LoadBefore, f.LoadAfter = program, l.String(), load, loadAverage()
	f.addServer(before, after)
	return f, nil
}

// child is a measured process.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *json.Decoder
}

func startChild(ctx context.Context, j job, stderr io.Writer) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, self, childCommand)}
	c.cmd.Stderr = stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = json.NewDecoder(stdout)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if err := json.NewEncoder(c.stdin).Encode(j); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

// next waits for what the process has to say.
func (c *child) next() (message, error) {
	var m message
	if err := c.out.Decode(&m); err != nil {
		return m, fmt.Errorf("the process ended before it was done: %w", err)
	}
	return m, nil
}

// end stops the process, which ends with its input, and waits for it.
func (c *child) end() {
	_ = c.stdin.Close()
	_ = c.cmd.Wait() // by now it has said what it had to say
}
