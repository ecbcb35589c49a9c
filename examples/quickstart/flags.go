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

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// options are the flags, validated.
type options struct {
	fault    fault
	duration time.Duration // 0: as long as the fault is worth watching
	json     string
	version  string
	verbose  bool
}

// limit bounds the time after the fault.
func (o options) limit() time.Duration {
	if o.duration > 0 {
		return o.duration
	}
	return o.fault.limit
}

// versions are the minor versions of Kubernetes that testing/controlplane has.
func versions() []string { return []string{"1.34", "1.35", "1.36", "1.37"} }

// usage is the help text.
func usage() string {
	var b strings.Builder
	b.WriteString(`Runs one operator twice against a real kube-apiserver, stock and guarded by freshwatch,
breaks something in silence, edits an object, and shows who saw the edit when.

  -fault NAME     what to break (default ` + faults()[0].name + `):
`)
	for _, f := range faults() {
		fmt.Fprintf(&b, "      %-11s %s\n", f.name, f.title)
	}
	b.WriteString(`  -duration D     watch for exactly this long after the fault, such as 90s or 5m (default: until the
                  guarded operator is well again and a little longer; 5m if nothing is broken)
  -json FILE      write the figures to this file, or to standard output with "-"; the timeline
                  goes to standard error then
  -version X.Y    Kubernetes: ` + strings.Join(versions(), ", ") + ` (default ` + controlplane.DefaultVersion + `)
  -v              log what client-go, controller-runtime and freshwatch say to standard error

Exit status: 0 if the guarded operator did what is promised of it, 1 if not, 2 for a bad flag,
130 if interrupted.
`)
	return b.String()
}

// parseFlags returns the options, flag.ErrHelp, or an error of one line that
// names what is allowed.
func parseFlags(args []string) (options, error) {
	o := options{fault: faults()[0]}
	fs := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Func("fault", "", func(name string) (err error) {
		o.fault, err = faultNamed(name)
		return err
	})
	fs.Func("duration", "", func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return errors.New("must be a positive duration, such as 90s or 5m")
		}
		o.duration = d
		return nil
	})
	fs.Func("version", "", func(s string) error {
		if !slices.Contains(versions(), s) {
			return fmt.Errorf("must be one of %s", strings.Join(versions(), ", "))
		}
		o.version = s
		return nil
	})
	fs.Func("json", "", func(s string) error {
		o.json = s
		return canWrite(s)
	})
	fs.BoolVar(&o.verbose, "v", false, "")
	if err := fs.Parse(args); err != nil {
		if strings.HasPrefix(err.Error(), "flag provided but not defined") {
			err = fmt.Errorf("%w: must be one of -fault, -duration, -json, -version, -v, -h", err)
		}
		return options{}, err
	}
	if fs.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: there are only flags, see -h", fs.Arg(0))
	}
	return o, nil
}

// canWrite finds out before minutes are spent on what is to be written.
func canWrite(name string) error {
	if name == "" {
		return errors.New("must be a file, or - for standard output")
	}
	if name == "-" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// setLogs keeps the libraries' logs out of the timeline.
func setLogs(verbose bool, stderr io.Writer) {
	logger := logr.New(log.NullLogSink{})
	if verbose {
		logger = textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(stderr), textlogger.Verbosity(2)))
	}
	klog.SetLogger(logger)
	log.SetLogger(logger)
}
