// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// job is what one of the measured processes has to do. It reads it from standard
// input, and ends early when that does.
type job struct {
	Kubeconfig      string
	Kinds           int
	Namespaces      []string
	Monitor         bool
	QPS             float32 // negative: no limit
	Burst           int
	Settle, Measure time.Duration
	Profile         string // file for a CPU profile of the time that is measured
}

// message is a line from the process: first that it has settled, then its figures.
type message struct {
	Settled bool
	Figures *figures `json:",omitempty"`
}

// syncWithin bounds the start of the informers.
const syncWithin = 10 * time.Minute

// playChild is the main of a measured process.
func playChild(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	klog.SetLogger(logr.Discard())
	in := json.NewDecoder(stdin)
	var j job
	if err := in.Decode(&j); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with standard input, or with the process
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	return j.run(ctx, json.NewEncoder(stdout))
}

func (j job) run(ctx context.Context, out *json.Encoder) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", j.Kubeconfig)
	if err != nil {
		return err
	}
	cfg.QPS, cfg.Burst = j.QPS, j.Burst
	m := &meter{}
	cfg.Wrap(m.wrap)
	f, err := startFleet(ctx, cfg, j)
	if err != nil {
		return err
	}
	defer f.stop()
	if err := f.awaitSync(ctx); err != nil {
		return err
	}
	if err := passes(ctx, j.Settle); err != nil {
		return err
	}
	u := startUser(ctx, f.client, j)
	defer u.stop()
	if err := out.Encode(message{Settled: true}); err != nil {
		return err
	}
	if j.Profile != "" {
		file, err := os.Create(j.Profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	before := takeUsage()
	begun := m.begin()
	f.watch.begin()
	if err := passes(ctx, j.Measure); err != nil {
		return err
	}
	after := takeUsage()
	fig := m.figures(begun)
	fig.add(before, after)
	f.watch.report(fig, f.monitor)
	u.stop()
	u.report(fig)
	return out.Encode(message{Figures: fig})
}

// passes waits for a time, and fails if ctx ends first.
func passes(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
