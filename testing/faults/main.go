// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command faults makes, on a real kube-apiserver and etcd, every fault that an
// informer is known to go stale by, and every state in which nothing is wrong with
// it. A guarded informer and a stock one stand side by side; an administrator who
// goes past all proxies edits an object while the fault lasts; and each row of the
// table says who saw that when, what the guard made of it, and whether that is what
// it should.
//
//	make faults
//	make faults FAULTS_ARGS="-fast -json faults.json"
//	go run ./testing/faults -h
//
// Nothing in the verdict on a row is written down beforehand: an expectation is held
// against what was measured. With -guard=off the guard watches only, and the suite
// has to fail.
//
// Of the negative controls these are elsewhere: a process paused for two minutes is
// row 32; a reconcile of ten minutes and a hand-over of leadership are no business of
// informers; an hour of silence is played on a fake clock by the tests of package
// freshness. A standby is any informer that nothing happens to.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// The exit statuses.
const (
	kept    = 0
	broken  = 1
	misused = 2
)

func main() {
	klog.SetLogger(logr.Discard()) // what informers have to say about the faults is no news here
	if job := os.Getenv(helperJob); job != "" {
		if err := playHelper(job, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "faults: helper:", err)
		}
		return
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	os.Exit(status) //nolint:forbidigo // a program ends with its status
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseFlags(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage())
		return kept
	case err != nil:
		fmt.Fprintln(stderr, "faults:", err)
		return misused
	case opts.list:
		for _, r := range opts.rows {
			fmt.Fprintf(stdout, "%-12s %s\n%-12s   %v\n", r.id, r.fault, "", r.want)
		}
		return kept
	}
	s := &suite{options: opts, progress: newProgress(stderr, opts.verbose), planeLog: io.Discard}
	if opts.verbose {
		s.planeLog = stderr
	}
	results, err := s.run(ctx)
	if err := errors.Join(err, publish(opts, stdout, results)); err != nil {
		fmt.Fprintln(stderr, "faults:", err)
		return broken
	}
	if slices.ContainsFunc(results, func(r result) bool { return !r.OK }) {
		return broken
	}
	return kept
}

// publish writes the results where they are wanted.
func publish(opts options, stdout io.Writer, results []result) error {
	table := opts.markdown
	if table == "" {
		table = "-"
	}
	if table == "-" && opts.json == "-" {
		return writeJSON("-", stdout, results) // one of them, so that it can be read
	}
	return errors.Join(write(table, stdout, markdown(results)), writeJSON(opts.json, stdout, results))
}
