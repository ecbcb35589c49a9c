// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command quickstart runs one operator twice against a real kube-apiserver, once
// as it is and once guarded by freshwatch, breaks something in silence, edits an
// object, and shows who saw the edit when.
//
//	go run ./examples/quickstart -h
//
// What an operator has to change in order to be guarded is in operator.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/freshwatch/freshwatch/freshness"
)

// The exit statuses.
const (
	kept        = 0   // the guarded operator did what is promised of it
	broken      = 1   // it did not, or the demo could not run
	misused     = 2   // a bad flag
	interrupted = 130 // the demo was stopped before its end
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	os.Exit(status)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseFlags(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage())
		return kept
	case err != nil:
		fmt.Fprintln(stderr, "quickstart:", err)
		return misused
	}
	setLogs(opts.verbose, stderr)
	screen := stdout
	if opts.json == "-" {
		screen = stderr
	}

	o, err := demonstrate(ctx, opts, newTimeline(screen))
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(screen, "\nStopped before the end; nothing is left running.")
		return interrupted
	case err != nil:
		fmt.Fprintln(stderr, "quickstart:", err)
		return broken
	}
	failures := opts.fault.failures(o)
	fmt.Fprint(screen, summarise(opts.fault, o, failures))
	if err := writeJSON(opts.json, stdout, o); err != nil {
		fmt.Fprintln(stderr, "quickstart: -json:", err)
		return broken
	}
	if len(failures) > 0 {
		return broken
	}
	return kept
}

// demonstrate runs both operators through the fault and returns what came of it.
func demonstrate(ctx context.Context, opts options, t *timeline) (o outcome, err error) {
	t.print(introduce(opts.fault, opts.limit(), opts.duration > 0))
	c, err := startCluster(ctx, opts.version, t.out)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()

	w := newWitness(t)
	monitor, err := freshness.New(freshness.Options{Observer: w.observe})
	if err != nil {
		return outcome{}, err
	}
	group, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		if e := group.Wait(); err == nil {
			err = e
		}
	}()
	for name, m := range map[string]*freshness.Monitor{stock: nil, guarded: monitor} {
		cfg, err := c.connect(name)
		if err != nil {
			return outcome{}, err
		}
		mgr, err := newOperator(cfg, m, func(o object, color string) { w.saw(name, o, color) })
		if err != nil {
			return outcome{}, fmt.Errorf("the %s operator: %w", name, err)
		}
		group.Go(func() error { return mgr.Start(ctx) })
	}

	s := &stage{cluster: c, witness: w, monitor: monitor}
	if err := s.rehearse(ctx, opts.fault); err != nil {
		return outcome{}, err
	}
	if err := s.perform(ctx, opts.fault, opts.limit(), opts.duration > 0); err != nil {
		return outcome{}, err
	}
	return s.conclude(opts.fault), nil
}
