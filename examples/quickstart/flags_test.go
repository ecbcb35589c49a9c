// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

func TestParseFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	for _, test := range []struct {
		name, args string
		fault      string
		limit      time.Duration
		rest       options
	}{
		{name: "nothing given", fault: "stream", limit: 2 * time.Minute},
		{name: "each fault has its limit", args: "-fault none", fault: "none", limit: 5 * time.Minute},
		{name: "a duration replaces it", args: "-fault none -duration 90s", fault: "none", limit: 90 * time.Second, rest: options{duration: 90 * time.Second}},
		{name: "the rest", args: "-version 1.34 -json " + file + " -v", fault: "stream", limit: 2 * time.Minute, rest: options{version: "1.34", json: file, verbose: true}},
		{name: "two dashes, equals sign", args: "--fault=etcd-watch --json=-", fault: "etcd-watch", limit: 4 * time.Minute, rest: options{json: "-"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseFlags(strings.Fields(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if got.fault.name != test.fault || got.limit() != test.limit {
				t.Errorf("fault %q for %v, want %q for %v", got.fault.name, got.limit(), test.fault, test.limit)
			}
			if got.json != test.rest.json || got.version != test.rest.version || got.verbose != test.rest.verbose || got.duration != test.rest.duration {
				t.Errorf("got %+v, want %+v", got, test.rest)
			}
		})
	}
}

func TestBadFlagsGiveOneLineWithWhatIsAllowed(t *testing.T) {
	for _, test := range []struct{ name, args, want string }{
		{"fault", "-fault flood", `"flood" for flag -fault: must be one of stream, blackhole, etcd-watch, none`},
		{"duration without unit", "-duration 60", `"60" for flag -duration: must be a positive duration, such as 90s or 5m`},
		{"no duration", "-duration 0s", "must be a positive duration"},
		{"version", "-version 1.2", "must be one of 1.34, 1.35, 1.36, 1.37"},
		{"patch version", "-version 1.37.2", "must be one of 1.34"},
		{"file that cannot be written", "-json /no/such/dir/x.json", "/no/such/dir/x.json"},
		{"unnamed file", "-json=", "must be a file, or - for standard output"},
		{"unknown flag", "-speed 2", "must be one of -fault, -duration, -json, -version, -v, -h"},
		{"value missing", "-fault", "flag needs an argument: -fault"},
		{"argument", "stream", `unexpected argument "stream"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := run(context.Background(), strings.Fields(test.args), &stdout, &stderr)
			if status != misused || stdout.Len() > 0 {
				t.Errorf("status %d and %q on standard output, want %d and nothing", status, stdout.String(), misused)
			}
			if text := stderr.String(); !strings.Contains(text, test.want) || strings.Count(text, "\n") != 1 {
				t.Errorf("said %q, want one line with %q", text, test.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	if _, err := parseFlags([]string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v, want %v", err, flag.ErrHelp)
	}
	var stdout, stderr bytes.Buffer
	if status := run(context.Background(), []string{"-h"}, &stdout, &stderr); status != kept || stderr.Len() > 0 {
		t.Errorf("status %d and %q on standard error, want %d and nothing", status, stderr.String(), kept)
	}
	for _, want := range []string{"-fault", "-duration", "-json", "-version", "-v ", "stream", "blackhole", "etcd-watch", "none"} {
		if !strings.Contains(stdout.String(), "  "+want) {
			t.Errorf("the help does not describe %q", want)
		}
	}
	wantNarrow(t, stdout.String())
}

// The error of testing/controlplane is the one place that lists what it has.
func TestVersionsAreThoseOfTheControlPlane(t *testing.T) {
	_, err := controlplane.Ensure(t.Context(), "0.0", nil)
	if err == nil {
		t.Fatal("version 0.0 was found")
	}
	_, list, ok := strings.Cut(err.Error(), "among ")
	if !ok {
		t.Fatalf("no list of versions in %q", err)
	}
	have := strings.Split(list, ", ")
	for _, v := range have {
		if _, err := parseFlags([]string{"-version", v}); err != nil {
			t.Error(err)
		}
	}
	if len(have) != len(versions()) {
		t.Errorf("versions() = %v, want %v", versions(), have)
	}
}

// wantNarrow fails if a line has more than 100 columns.
func wantNarrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > 100 {
			t.Errorf("%d columns, want at most 100: %s", len(line), line)
		}
	}
}
