// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command controlplane builds the programs of a Kubernetes control plane, or runs one on the loopback address to play with.
//
//	controlplane build [-version 1.37] [-components etcd,kube-apiserver]
//	controlplane run   [-version 1.37] [-controller-manager] [-scheduler] [-datastore kine] [-port 6443] [-dir DIR] [-kubeconfig FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

const usage = `usage:
  controlplane build [-version 1.37] [-components etcd,kube-apiserver]
      find or build the programs, print the directory they are in
  controlplane run [-version 1.37] [-controller-manager] [-scheduler] [-datastore kine] [-port 6443] [-dir DIR] [-kubeconfig FILE]
      start a control plane and keep it until interrupted
"controlplane build -h" and "controlplane run -h" describe the flags.
`

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command runs one subcommand. Results go to stdout, progress to stderr.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	name := "help"
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "build":
		return build(ctx, args[1:], stdout, stderr)
	case "run":
		return run(ctx, args[1:], stdout, stderr)
	case "help", "-h", "--help":
		_, err := io.WriteString(stdout, usage)
		return err
	}
	return fmt.Errorf("controlplane: unknown command %q: must be build, run or help", name)
}

// build finds or builds the programs.
func build(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("build", stderr)
	version := flags.String("version", "", "Kubernetes minor `version` (default "+controlplane.DefaultVersion+")")
	list := flags.String("components", "", "comma-separated `names` (default all)")
	if err := parse(flags, args); err != nil {
		return err
	}
	var components []controlplane.Component
	if *list != "" {
		for name := range strings.SplitSeq(*list, ",") {
			components = append(components, controlplane.Component(strings.TrimSpace(name)))
		}
	}
	dir, err := controlplane.Ensure(ctx, *version, stderr, components...)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, dir)
	return err
}

func newFlags(name string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet("controlplane "+name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	return flags
}

func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s: unexpected argument %q", flags.Name(), flags.Arg(0))
	}
	return nil
}
