// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/transport"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func flagSet() (*flag.FlagSet, *bytes.Buffer) {
	var out bytes.Buffer
	fs := flag.NewFlagSet("operator", flag.ContinueOnError)
	fs.SetOutput(&out)
	return fs, &out
}

// The usage is what an operator's -help shows.
func TestUsage(t *testing.T) {
	fs, out := flagSet()
	new(Options).BindFlags(fs)
	fs.PrintDefaults()
	golden := filepath.Join("testdata", "usage.golden")
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("usage (-want +got; -update rewrites it):\n%s", diff)
	}
}

// flagTests is every flag: a value, and the field that it sets.
var flagTests = map[string]struct {
	value string
	field func(*Options) any
	want  any
}{
	"http2-read-idle-timeout":  {"11s", func(o *Options) any { return o.Transport.ReadIdleTimeout }, 11 * time.Second},
	"http2-ping-timeout":       {"12s", func(o *Options) any { return o.Transport.PingTimeout }, 12 * time.Second},
	"watch-max-duration":       {"13m", func(o *Options) any { return o.Transport.MaxWatch }, 13 * time.Minute},
	"watch-idle-timeout":       {"14m", func(o *Options) any { return o.Transport.IdleTimeout }, 14 * time.Minute},
	"list-timeout":             {"15m", func(o *Options) any { return o.Transport.ListTimeout }, 15 * time.Minute},
	"freshness-max-staleness":  {"16s", func(o *Options) any { return o.Freshness.MaxStaleness }, 16 * time.Second},
	"freshness-fail-after":     {"17m", func(o *Options) any { return o.Freshness.FailAfter }, 17 * time.Minute},
	"freshness-sync-timeout":   {"18m", func(o *Options) any { return o.Freshness.SyncTimeout }, 18 * time.Minute},
	"freshness-audit-interval": {"19m", func(o *Options) any { return o.Freshness.Audit.Every }, 19 * time.Minute},
	"watch-canary-interval":    {"20s", func(o *Options) any { return o.Canary.Interval }, 20 * time.Second},
	"watch-canary-fail-after":  {"21m", func(o *Options) any { return o.Canary.FailAfter }, 21 * time.Minute},
	"watch-canary-namespace":   {"here", func(o *Options) any { return o.Canary.Namespace }, "here"},
	"watch-canary-name":        {"lease", func(o *Options) any { return o.Canary.Name }, "lease"},
	"reconcile-timeout":        {"22m", func(o *Options) any { return o.Reconcile.Default.Timeout }, 22 * time.Minute},
	"reconcile-fail-after":     {"23m", func(o *Options) any { return o.Reconcile.Default.FailAfter }, 23 * time.Minute},
	"exit-on-unauthorized":     {"true", func(o *Options) any { return o.ExitOnUnauthorized }, true},
	"connection-guard":         {"false", func(o *Options) any { return o.Disable.Transport }, true},
	"freshness-monitor":        {"false", func(o *Options) any { return o.Disable.Freshness }, true},
	"watch-canary":             {"false", func(o *Options) any { return o.Disable.Canary }, true},
	"reconcile-deadlines":      {"false", func(o *Options) any { return o.Disable.Reconcile }, true},
	"flight-recorder":          {"false", func(o *Options) any { return o.Disable.FlightRecorder }, true},
	"freshness-page":           {"false", func(o *Options) any { return o.Disable.DebugPage }, true},
	"freshness-events":         {"false", func(o *Options) any { return o.Disable.Events }, true},
}

func TestEachFlagSetsItsField(t *testing.T) {
	fs, _ := flagSet()
	new(Options).BindFlags(fs)
	fs.VisitAll(func(f *flag.Flag) {
		tt, ok := flagTests[f.Name]
		if !ok {
			t.Errorf("-%s is not tested", f.Name)
			return
		}
		for name, given := range flagTests { // its own alone
			var o Options
			fs, _ := flagSet()
			o.BindFlags(fs)
			if err := fs.Parse([]string{"-" + name + "=" + given.value}); err != nil {
				t.Fatal(err)
			}
			if got := tt.field(&o); (got == tt.want) != (name == f.Name) {
				t.Errorf("-%s=%s makes what is -%s's %v", name, given.value, f.Name, got)
			}
		}
	})
}

// What the program has set is the flag's default, and what nobody has set stays empty, so
// that the package chooses.
func TestFlagDefaults(t *testing.T) {
	var o Options
	o.Canary.Interval, o.Disable.Events, o.Canary.Name, o.ExitOnUnauthorized = 30*time.Second, true, "own", true
	before := o
	fs, _ := flagSet()
	o.BindFlags(fs)
	if err := fs.Parse(nil); err != nil {
		t.Fatal(err)
	}
	if o.Canary.Interval != before.Canary.Interval || o.Disable != before.Disable || o.Canary.Name != "own" || !o.ExitOnUnauthorized || o.Reconcile.Default.Timeout != 0 {
		t.Errorf("after flags that nobody gave: %+v", o)
	}
	for name, want := range map[string]string{"watch-canary-interval": "30s", "freshness-events": "false", "flight-recorder": "true", "reconcile-timeout": "15m0s"} {
		if got := fs.Lookup(name).DefValue; got != want {
			t.Errorf("the default of -%s is %s, want %s", name, got, want)
		}
	}
}

// A value that cannot be is refused, and changes nothing.
func TestFlagsRefuse(t *testing.T) {
	for _, arg := range []string{"-reconcile-timeout=soon", "-watch-canary=perhaps", "-reconcile-timeout=5"} {
		var o Options
		fs, _ := flagSet()
		o.BindFlags(fs)
		if err := fs.Parse([]string{arg}); err == nil || o.Reconcile.Default.Timeout != 0 || o.Disable.Canary {
			t.Errorf("%s: %v, and %v", arg, err, o.Reconcile.Default.Timeout)
		}
	}
}

// False turns off what a program has set up, not only its own field.
func TestExitFlagTurnsOff(t *testing.T) {
	opts := Options{Transport: transport.Options{ExitOnUnauthorized: &transport.ExitOptions{After: time.Minute}}}
	fs := flag.NewFlagSet("operator", flag.ContinueOnError)
	opts.BindFlags(fs)
	if got := fs.Lookup("exit-on-unauthorized").DefValue; got != "true" {
		t.Errorf("it is on, and the flag says %s", got)
	}
	if err := fs.Parse([]string{"--exit-on-unauthorized=false"}); err != nil {
		t.Fatal(err)
	}
	if opts.ExitOnUnauthorized || opts.Transport.ExitOnUnauthorized != nil {
		t.Errorf("it is still on: %v, %+v", opts.ExitOnUnauthorized, opts.Transport.ExitOnUnauthorized)
	}
}
