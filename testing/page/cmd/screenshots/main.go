// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command screenshots makes those in the documents. Nothing on them is made up: it starts a
// real kube-apiserver and a guarded operator, with a proxy between the two that silences
// every watch of one kind, takes pictures of the page in a real Chromium while the stall
// lasts, has it cured, and takes them again.
//
//	make screenshots
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

func main() {
	module := flag.String("module", ".", "the folder of the module testing/page, which has chromium.sh")
	out := flag.String("out", "../../docs/images", "the folder to write the pictures into")
	flag.Parse()
	klog.SetLogger(logr.Discard()) // of the fault
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *module, *out, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

const (
	warmUp   = 3 * time.Minute // the canary needs a while for something to be seen
	patience = 4 * time.Minute
)

func run(ctx context.Context, module, out string, log io.Writer) (err error) {
	browser, err := chromium.Start(ctx, module)
	if err != nil {
		return err
	}
	defer browser.Close()
	s, err := startStage(ctx, log)
	if err != nil {
		return err
	}
	defer func() {
		if e := s.stop(); err == nil {
			err = e
		}
	}()

	fmt.Fprintf(log, "the operator runs, its page is at %s; waiting until all is fresh, for %v\n", s.url(), warmUp)
	begin := time.Now()
	if err := s.await(ctx, func(now flightrecorder.Snapshot) bool {
		return now.Healthy && proven(now) && time.Since(begin) > warmUp
	}); err != nil {
		return fmt.Errorf("at the start: %w", err)
	}

	fmt.Fprintln(log, "silencing every watch of ConfigMaps")
	fault := s.silence()
	if err := s.await(ctx, stalled); err != nil {
		return fmt.Errorf("the stall: %w", err)
	}
	slow := s.holdLists()                                                  // the cure takes as long as the pictures
	if err := s.shoot(browser, out, "stalled", stalled, log); err != nil { //nolint:contextcheck // the browser has it
		return err
	}

	fmt.Fprintln(log, "lifting the fault")
	slow.Lift()
	fault.Lift()
	if err := s.await(ctx, cured); err != nil {
		return fmt.Errorf("the cure: %w", err)
	}
	return s.shoot(browser, out, "cured", cured, log) //nolint:contextcheck // the browser has it
}

// proven tells whether every informer has been proven fresh.
func proven(s flightrecorder.Snapshot) bool {
	for _, i := range s.Informers {
		if i.Verdict != freshness.Fresh {
			return false
		}
	}
	return len(s.Informers) >= 5
}

// stalled tells whether the stall is known: the picture is of that.
func stalled(s flightrecorder.Snapshot) bool {
	for _, i := range s.Incidents {
		if i.Open() && i.Verdict == freshness.Stalled {
			for _, in := range s.Informers {
				if in.Name == i.Informer.String() && in.Verdict == freshness.Stalled {
					return true
				}
			}
		}
	}
	return false
}

// cured tells whether all is well again.
func cured(s flightrecorder.Snapshot) bool {
	return s.Healthy && len(s.Incidents) > 0 && proven(s)
}

// shoot takes the pictures, on a desktop by day and on a phone by night. What is to be seen
// has to hold before and after.
func (s *stage) shoot(browser *chromium.Browser, out, name string, holds func(flightrecorder.Snapshot) bool, log io.Writer) error {
	for suffix, look := range map[string]chromium.Look{
		"desktop": {Width: 1120, Height: 1180, Scale: 1.5, Reduced: true},
		"phone":   {Width: 390, Height: 844, Scale: 2, Dark: true, Reduced: true},
	} {
		picture, err := s.picture(browser, look, holds)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", name, suffix, err)
		}
		file := filepath.Join(out, "debugpage-"+name+"-"+suffix+".png")
		if err := os.WriteFile(file, picture, 0o644); err != nil { //nolint:gosec // a document
			return err
		}
		fmt.Fprintf(log, "%s: %d kB\n", file, len(picture)/1000)
	}
	return nil
}

func (s *stage) picture(browser *chromium.Browser, look chromium.Look, holds func(flightrecorder.Snapshot) bool) ([]byte, error) {
	tab, err := browser.Open(s.url(), look)
	if err != nil {
		return nil, err
	}
	defer tab.Close()
	shows, err := chromium.Eval[string](tab, "document.title")
	if err != nil {
		return nil, err
	}
	picture, err := tab.Shot()
	if err != nil {
		return nil, err
	}
	if now := s.guard.Recorder().Snapshot(); !holds(now) {
		return nil, fmt.Errorf("it was over too soon; the page was called %q, and it is: %s", shows, now.Diagnosis)
	}
	if c := tab.Complaints(); len(c) > 0 {
		return nil, fmt.Errorf("the browser complains: %s", strings.Join(c, "; "))
	}
	return optimised(picture)
}
