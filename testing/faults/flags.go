// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

const (
	defaultTimeout = 40 * time.Minute
	// defaultParallel rows run at once on the control plane that they share. They wait
	// for bookmarks, not for a processor.
	defaultParallel = 16
	// fastStaleness is what the guard of the fast subset proves its informers within.
	fastStaleness = 20 * time.Second
)

// options are the flags, validated.
type options struct {
	rows           []*row
	json, markdown string
	version        string
	fast           bool
	unguarded      bool
	list           bool
	verbose        bool
	parallel       int
	timeout        time.Duration
}

// versions are the minor versions of Kubernetes that testing/controlplane has.
func versions() []string { return []string{"1.34", "1.35", "1.36", "1.37"} }

// usage is the help text.
func usage() string {
	return `Makes each fault of the list on a real kube-apiserver and etcd, with a guarded informer and a
stock one side by side, and tells what came of it.

  -only ID,ID     only these rows (-list names them)
  -fast           the subset that ends within 2.5 minutes; its guard proves within ` + fastStaleness.String() + `
  -json FILE      write the rows as JSON to this file, or to standard output with "-"
  -markdown FILE  write the table to this file rather than to standard output
  -guard=off      the guard watches only: the suite has to fail
  -parallel N     rows at once on the control plane that they share (default ` + fmt.Sprint(defaultParallel) + `)
  -timeout D      what has not ended by then is not ok (default ` + defaultTimeout.String() + `)
  -version X.Y    Kubernetes: ` + strings.Join(versions(), ", ") + ` (default ` + controlplane.DefaultVersion + `)
  -list           name the rows and what they expect
  -v              tell what the guard did in each row, and show the control planes' output

Exit status: 0 if every row is ok, 1 if one is not, 2 for misuse.
`
}

// parseFlags returns the options, flag.ErrHelp, or an error of one line that names
// what is allowed.
func parseFlags(args []string) (options, error) {
	o := options{parallel: defaultParallel, timeout: defaultTimeout}
	fs := flag.NewFlagSet("faults", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	var only []string
	fs.Func("only", "", func(s string) error {
		only = strings.Split(s, ",")
		return nil
	})
	fs.Func("json", "", canWrite(&o.json))
	fs.Func("markdown", "", canWrite(&o.markdown))
	fs.Func("guard", "", func(s string) error {
		o.unguarded = s == "off"
		return oneOf(s, "on", "off")
	})
	fs.Func("version", "", func(s string) error {
		o.version = s
		return oneOf(s, versions()...)
	})
	fs.BoolVar(&o.fast, "fast", false, "")
	fs.BoolVar(&o.list, "list", false, "")
	fs.BoolVar(&o.verbose, "v", false, "")
	fs.IntVar(&o.parallel, "parallel", o.parallel, "")
	fs.DurationVar(&o.timeout, "timeout", o.timeout, "")
	if err := fs.Parse(args); err != nil {
		if strings.HasPrefix(err.Error(), "flag provided but not defined") {
			err = fmt.Errorf("%w: see -h", err)
		}
		return options{}, err
	}
	switch {
	case fs.NArg() > 0:
		return options{}, fmt.Errorf("unexpected argument %q: there are only flags, see -h", fs.Arg(0))
	case o.parallel < 1:
		return options{}, fmt.Errorf("-parallel is %d, but must be at least 1", o.parallel)
	case o.timeout <= 0:
		return options{}, fmt.Errorf("-timeout is %v, but must be positive", o.timeout)
	}
	var err error
	o.rows, err = choose(played(rows(), o.version), o.fast, only)
	return o, err
}

// played returns the rows that can be played on a version; empty is the default.
func played(all []*row, version string) []*row {
	if version == "" {
		version = controlplane.DefaultVersion
	}
	return slices.DeleteFunc(all, func(r *row) bool { return r.ground.only != "" && r.ground.only != version })
}

// choose returns the rows that are asked for.
func choose(all []*row, fast bool, only []string) ([]*row, error) {
	var ids []string
	for _, r := range all {
		ids = append(ids, r.id)
	}
	for _, id := range only {
		if !slices.Contains(ids, id) {
			return nil, fmt.Errorf("-only: there is no row %q; the rows are %s", id, strings.Join(ids, ", "))
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(r *row) bool {
		return len(only) > 0 && !slices.Contains(only, r.id) || len(only) == 0 && fast && !r.fast
	})
	for _, r := range chosen {
		if fast && r.job.MaxStaleness == 0 {
			r.job.MaxStaleness = fastStaleness
		}
	}
	return chosen, nil
}

func oneOf(s string, allowed ...string) error {
	if !slices.Contains(allowed, s) {
		return fmt.Errorf("must be one of %s", strings.Join(allowed, ", "))
	}
	return nil
}

// canWrite finds out before minutes are spent on what is to be written.
func canWrite(name *string) func(string) error {
	return func(s string) error {
		*name = s
		switch s {
		case "":
			return errors.New("must be a file, or - for standard output")
		case "-":
			return nil
		}
		f, err := os.OpenFile(s, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		return f.Close()
	}
}
