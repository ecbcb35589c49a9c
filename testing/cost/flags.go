// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// options are the command's flags.
type options struct {
	kinds, namespaces int
	settle, measure   time.Duration
	limits            []limit
	programs          []string
	version           string
	json, profiles    string
}

// limit is a client's rate limit. The zero value is none.
type limit struct {
	qps   float32
	burst int
}

func (l limit) String() string {
	if l.qps == 0 {
		return "off"
	}
	return fmt.Sprintf("%g/%d", l.qps, l.burst)
}

func parseFlags(args []string, stderr io.Writer) (options, error) {
	var o options
	var limits, programs string
	f := flag.NewFlagSet("cost", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.kinds, "kinds", 1000, "custom resource definitions")
	f.IntVar(&o.namespaces, "namespaces", 1, "namespaces, with an informer for each kind in each of them")
	f.DurationVar(&o.settle, "settle", 90*time.Second, "time from when all informers are synced until the measurement begins")
	f.DurationVar(&o.measure, "measure", 5*time.Minute, "time that each process is measured for")
	f.StringVar(&limits, "limits", "off", "client-side rate limits, `QPS/BURST` or off, separated by commas; each is measured with and without a monitor")
	f.StringVar(&programs, "programs", stock+","+monitored, "what to measure, separated by commas")
	f.StringVar(&o.version, "version", "", "Kubernetes minor `version` (default: that of the libraries)")
	f.StringVar(&o.json, "json", "", "`file` for the figures as JSON")
	f.StringVar(&o.profiles, "profiles", "", "existing `directory` for a CPU profile of each process")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", f.Arg(0))
	}
	for text := range strings.SplitSeq(limits, ",") {
		l, err := parseLimit(strings.TrimSpace(text))
		if err != nil {
			return o, err
		}
		o.limits = append(o.limits, l)
	}
	for name := range strings.SplitSeq(programs, ",") {
		if name != stock && name != monitored {
			return o, fmt.Errorf("-programs holds %q, but must hold %s, %s or both", name, stock, monitored)
		}
		o.programs = append(o.programs, name)
	}
	return o, o.validate()
}

func parseLimit(text string) (limit, error) {
	if text == "off" {
		return limit{}, nil
	}
	qps, burst, _ := strings.Cut(text, "/")
	q, errQPS := strconv.ParseFloat(qps, 32)
	b, errBurst := strconv.Atoi(burst)
	if errQPS != nil || errBurst != nil || q <= 0 || b < 1 {
		return limit{}, fmt.Errorf("-limits holds %q, but must hold QPS/BURST, such as 20/30, or off", text)
	}
	return limit{float32(q), b}, nil
}

func (o options) validate() error {
	switch {
	case o.kinds < 1 || o.namespaces < 1:
		return errors.New("-kinds and -namespaces must be at least 1")
	case o.settle < 0 || o.measure <= 0:
		return errors.New("-settle must not be negative, and -measure must be positive")
	}
	return nil
}
