// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command cost measures what a freshness.Monitor costs: a thousand informers of
// custom resources on a real kube-apiserver, in a process without a monitor and
// in one with it, each for some minutes once its start has settled.
//
//	cost                          # 1,000 kinds, 5 min for each process
//	cost -kinds 250 -namespaces 4 # as many informers, a smaller API server
//	cost -limits off,20/30,5/10   # and again with client-side rate limits
//
// It prints a table, writes the same as JSON where -json says, and ends with 1 if
// a promise about a thousand informers is broken.
//
// The processes run one after the other, so that what the API server spends can be
// told apart. Both have the same traffic of their own, one read a second: it shows
// whether proofs that share a rate limit with it keep it waiting. Requests and
// bytes of bodies are counted in the client, CPU time is the kernel's account of
// the process, memory is what is left after a garbage collection.
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
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	cancel()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1) //nolint:forbidigo // a program's exit code is main's to give
	}
}

// childCommand makes the program one of the processes that are measured.
const childCommand = "child"

// command measures, or is measured.
func command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) == 1 && args[0] == childCommand {
		return playChild(ctx, stdin, stdout)
	}
	opts, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	return measure(ctx, opts, stdout, stderr)
}
