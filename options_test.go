// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/debugpage"
	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// New refuses what any part refuses, also of those that are made later.
func TestNewRefuses(t *testing.T) {
	off := Parts{Transport: true, Freshness: true, Canary: true, Reconcile: true, FlightRecorder: true, DebugPage: true, Events: true}
	tests := []struct {
		name string
		give Options
		want string // in the error
		off  bool   // nobody looks at it where the part is off
	}{
		{"nothing", Options{}, "", false},
		{"all is off", Options{Disable: off}, "", false},
		{"path", Options{DebugPath: "debug"}, `freshwatch: Options.DebugPath is "debug", but must begin with /`, false},
		{"path with a wildcard", Options{DebugPath: "/debug/{x}"}, `freshwatch: Options.DebugPath is "/debug/{x}", but must begin with /, as a path that http.ServeMux takes literally`, false},
		{"path with a space", Options{DebugPath: "/a b"}, `freshwatch: Options.DebugPath is "/a b"`, false},
		{"path that is not clean", Options{DebugPath: "/debug/"}, `freshwatch: Options.DebugPath is "/debug/"`, false},
		{"recorder of the page", Options{DebugPage: debugpage.Options{Recorder: &flightrecorder.Recorder{}}}, "Options.DebugPage.Recorder", false},
		{"exit without transport", Options{ExitOnUnauthorized: true, Disable: Parts{Transport: true}}, "freshwatch: Options.ExitOnUnauthorized is set", false},
		{"transport", Options{Transport: transport.Options{MaxWatch: time.Second}}, "transport: Options.MaxWatch is 1s", true},
		{"exit", Options{Transport: transport.Options{ExitOnUnauthorized: &transport.ExitOptions{After: 1}}}, "transport: ExitOptions.After is 1ns", false},
		{"freshness", Options{Freshness: freshness.Options{MaxStaleness: time.Second}}, "freshness: Options.MaxStaleness is 1s", true},
		{"canary", Options{Canary: watchcanary.Options{Interval: time.Second}}, "watchcanary: Options.Interval is 1s", true},
		{"canary's namespace", Options{Canary: watchcanary.Options{Namespace: "A"}}, `watchcanary: Options.Namespace is "A"`, true},
		{"reconcile", Options{Reconcile: reconcile.DeadlinesOptions{Default: reconcile.DeadlineOptions{Timeout: 1}}}, "reconcile: DeadlineOptions.Timeout is 1ns", true},
		{"flight recorder", Options{FlightRecorder: flightrecorder.Options{Entries: 1}}, "flightrecorder: Options.Entries is 1", true},
		{"page", Options{DebugPage: debugpage.Options{Refresh: 1}}, "debugpage: Options.Refresh is 1ns", true},
		{"events", Options{Events: freshevents.Options{Lease: "_"}}, `freshevents: Options.Lease is "_"`, true},
		{
			"generations", Options{Generations: []reconcile.GenerationKind{{Object: &corev1.Pod{}}}, GenerationOptions: reconcile.GenerationOptions{Interval: 1}},
			"reconcile: GenerationOptions.Interval is 1ns", false,
		},
		{"generations, of no kind", Options{GenerationOptions: reconcile.GenerationOptions{Interval: 1}}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := New(tt.give)
			if (err != nil) != (tt.want != "") || (g == nil) != (err != nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New: %v, %v, want %q", g, err, tt.want)
			}
			if !tt.off {
				return
			}
			tt.give.Disable = off
			if _, err := New(tt.give); err != nil {
				t.Errorf("New, with all parts off: %v", err)
			}
		})
	}
}

// All that is wrong is told at once.
func TestNewRefusesTogether(t *testing.T) {
	_, err := New(Options{
		DebugPath: "x", Transport: transport.Options{MaxWatch: 1}, Freshness: freshness.Options{MaxStaleness: 1}, Canary: watchcanary.Options{Interval: 1},
		FlightRecorder: flightrecorder.Options{Entries: 1},
	})
	for _, want := range []string{"freshwatch: ", "transport: ", "freshness: ", "watchcanary: ", "flightrecorder: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v has no %q", err, want)
		}
	}
}

// One clock and one logger are those of all parts, but for those that have their own.
func TestCommonOptions(t *testing.T) {
	ours, own := clocktesting.NewFakeClock(time.Now()), clocktesting.NewFakeClock(time.Now())
	log := (&lines{}).logger()
	o := Options{Clock: ours, Logger: log, Freshness: freshness.Options{Clock: own, Logger: logr.Discard().WithName("own")}}.withDefaults()
	for name, c := range map[string]any{
		"Transport": o.Transport.Clock, "Canary": o.Canary.Clock, "Reconcile.Default": o.Reconcile.Default.Clock, "Reconcile.Restarts": o.Reconcile.Restarts.Clock,
		"GenerationOptions": o.GenerationOptions.Clock, "FlightRecorder": o.FlightRecorder.Clock, "Events": o.Events.Clock,
	} {
		if c != any(ours) {
			t.Errorf("Options.%s.Clock is %v, want the common one", name, c)
		}
	}
	if o.Freshness.Clock != any(own) {
		t.Error("Options.Freshness.Clock is not its own any more")
	}
	if o := (Options{}).withDefaults(); o.Transport.Clock != nil || o.Reconcile.Default.Clock != nil {
		t.Error("a clock where none was given")
	}
	for name, l := range map[string]logr.Logger{
		"Transport": o.Transport.Logger, "Freshness": o.Freshness.Logger, "Canary": o.Canary.Logger, "Reconcile.Default": o.Reconcile.Default.Logger,
		"GenerationOptions": o.GenerationOptions.Logger, "FlightRecorder": o.FlightRecorder.Logger, "Events": o.Events.Logger,
	} {
		if l.GetSink() == nil {
			t.Errorf("Options.%s.Logger is none", name)
		}
	}
}

// A recorder is told what observers of the program are told, after them.
func TestObservers(t *testing.T) {
	var told []string
	hear := func(who string) func(string) { return func(e string) { told = append(told, who+" "+e) } }
	both(hear("first"), hear("second"))("event")
	both(nil, hear("only"))("event")
	if got := strings.Join(told, ", "); got != "first event, second event, only event" {
		t.Errorf("told: %s", got)
	}
	exits := &transport.ExitOptions{}
	g, err := New(Options{Transport: transport.Options{ExitOnUnauthorized: exits}})
	if err != nil {
		t.Fatal(err)
	}
	if exits.FlightRecorder != nil {
		t.Error("the program's own ExitOptions are changed")
	}
	if got := g.opts.Transport.ExitOnUnauthorized.FlightRecorder; got != any(g.Recorder()) {
		t.Errorf("before an exit, %v is asked, want the recorder", got)
	}
	if err := errors.Join(g.opts.check()); err == nil || !strings.Contains(err.Error(), "DebugPage") {
		t.Errorf("the page shows no recorder: %v", err)
	}
}

// One flag is enough for an exit, and what is set in more detail stays.
func TestExitOnUnauthorized(t *testing.T) {
	own := &transport.ExitOptions{After: time.Minute}
	for _, tt := range []struct {
		name string
		give Options
		want time.Duration
		on   bool
	}{
		{"default", Options{}, 0, false},
		{"on", Options{ExitOnUnauthorized: true}, 0, true},
		{"in detail", Options{Transport: transport.Options{ExitOnUnauthorized: own}}, time.Minute, true},
		{"both", Options{ExitOnUnauthorized: true, Transport: transport.Options{ExitOnUnauthorized: own}}, time.Minute, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.give.withDefaults().Transport.ExitOnUnauthorized
			if (got != nil) != tt.on || got != nil && got.After != tt.want {
				t.Errorf("%+v, want one of %v: %v", got, tt.want, tt.on)
			}
		})
	}
}
