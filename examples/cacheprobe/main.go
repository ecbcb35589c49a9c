// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command cacheprobe asks API servers whether their watch cache is frozen: whether
// what they serve to informers stands still while the datastore moves on. It only
// reads, unless it is told to run a command when it is sure.
//
//	go run ./examples/cacheprobe -h
//
// The rules are in judge.go, and docs/cacheprobe.md says how to run it from a
// timer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// The exit statuses.
const (
	exitHealthy     = 0   // no watch cache is frozen; one that is late counts as healthy
	exitFrozen      = 1   // at least one is
	exitUnreachable = 2   // none is known to be, and at least one server did not answer
	exitUnknown     = 3   // all answered, and at least one answer says neither
	exitUsage       = 64  // a bad flag; EX_USAGE of sysexits.h
	exitInterrupted = 130 // stopped before the end
)

func main() {
	klog.SetLogger(logr.Discard()) // what client-go has to say is in the errors
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	os.Exit(status)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseFlags(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return exitHealthy
	case err != nil:
		fmt.Fprintln(stderr, "cacheprobe:", err)
		return exitUsage
	}
	cfg, err := loadConfig(opts.kubeconfig, opts.context)
	if err != nil {
		fmt.Fprintln(stderr, "cacheprobe:", err)
		return exitUnknown
	}
	w := &watchman{opts: opts, stderr: stderr, random: rand.Float64}
	rep, err := w.inspect(ctx, cfg)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "cacheprobe: interrupted")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(stderr, "cacheprobe:", err)
		return classify(err).exit()
	}
	if err := rep.write(stdout, opts.json); err != nil {
		fmt.Fprintln(stderr, "cacheprobe:", err)
		return exitUnknown
	}
	return rep.Verdict.exit()
}
