// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"flag"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/freshwatch/freshwatch"
)

// A command with pflag hands the flags on.
func Example() {
	var guards freshwatch.Options
	var own flag.FlagSet
	guards.BindFlags(&own)

	command := pflag.NewFlagSet("operator", pflag.ContinueOnError) // pflag.CommandLine
	command.AddGoFlagSet(&own)
	if err := command.Parse([]string{"--watch-canary-interval=30s", "--freshness-events=false"}); err != nil {
		panic(err)
	}
	fmt.Println(guards.Canary.Interval, guards.Disable.Events)
	// Output: 30s true
}

// pflag shows the types and the defaults as package flag does, and knows which flags need
// no value.
func TestPflag(t *testing.T) {
	var guards freshwatch.Options
	var own flag.FlagSet
	guards.BindFlags(&own)
	command := pflag.NewFlagSet("operator", pflag.ContinueOnError)
	command.AddGoFlagSet(&own)
	usage := command.FlagUsages()
	for _, want := range []string{
		`--freshness-max-staleness duration .*\(default 1m15s\)\n`,
		`--watch-canary +as the leader.*\(default true\)\n`,
		`--exit-on-unauthorized +exit when`,
		`--watch-canary-namespace namespace +`,
	} {
		if !regexp.MustCompile(want).MatchString(usage) {
			t.Errorf("the usage has no %s:\n%s", want, usage)
		}
	}
	if regexp.MustCompile(`default 0s|default [^)]*\) \(default`).MatchString(usage) {
		t.Errorf("a default is told twice, or wrongly:\n%s", usage)
	}
	if err := command.Parse([]string{"--exit-on-unauthorized", "--reconcile-timeout", "2m", "--watch-canary=false"}); err != nil {
		t.Fatal(err)
	}
	if !guards.ExitOnUnauthorized || guards.Reconcile.Default.Timeout != 2*time.Minute || !guards.Disable.Canary || guards.Disable.Events {
		t.Errorf("parsed: %+v", guards)
	}
	if err := command.Parse([]string{"--reconcile-timeout=soon"}); err == nil {
		t.Error("soon is no duration")
	}
}
