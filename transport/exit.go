// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr"
)

const (
	// stepTimeout is what each step before an exit may take.
	stepTimeout = 5 * time.Second
	// terminationLimit is what the kubelet keeps of a termination message.
	terminationLimit = 4096
	// recorderLimit is how much of a flight recorder is logged.
	recorderLimit = 64 << 10
)

// errStepEnded is for a step that ends its goroutine instead of returning.
var errStepEnded = errors.New("it called runtime.Goexit")

// exitProcedure ends a process whose credential is dead, and leaves the reason
// where people look for it.
type exitProcedure struct {
	opts ExitOptions
	log  logr.Logger
}

// run does what comes before the exit, each step in its own goroutine: none that
// fails, panics or hangs prevents the next, nor the exit.
func (p *exitProcedure) run(cause Unauthorized) {
	p.step("write the log line", func() error {
		p.log.Error(errors.New(cause.Message()), "Exiting, because of a dead credential",
			"since", cause.Since.UTC().Format(time.RFC3339), "responses", cause.Responses, "freshConnections", cause.FreshConnections, "subject", cause.Subject)
		return nil
	})
	p.step("write the termination message", func() error { return p.writeTerminationLog(cause.Message()) })
	if p.opts.FlightRecorder != nil {
		p.step("log the flight recorder", p.logRecorder)
	}
	if p.opts.BeforeExit != nil {
		p.step("call BeforeExit", func() error { p.opts.BeforeExit(cause); return nil })
	}
	p.opts.Exit(1)
}

// step runs fn for as long as it may take. What went wrong is logged, which is a
// step as well: a log sink can hang too.
func (p *exitProcedure) step(what string, fn func() error) {
	if err := runWithin(stepTimeout, fn); err != nil {
		_ = runWithin(stepTimeout, func() error {
			p.log.Error(err, "Could not do everything before the exit", "failed", what)
			return nil
		})
	}
}

// runWithin returns fn's error, its panic as an error, or the news that it takes
// too long. Then it is left behind.
func runWithin(limit time.Duration, fn func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := errStepEnded
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("it panicked: %v", v)
			}
			done <- err
		}()
		err = fn()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("it did not return within %v", limit)
	}
}

// writeTerminationLog writes the file that the kubelet reads. The default one is
// left alone where it does not exist: not in a container.
func (p *exitProcedure) writeTerminationLog(message string) error {
	flags := os.O_WRONLY | os.O_TRUNC
	if p.opts.TerminationLog != DefaultTerminationLog {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(p.opts.TerminationLog, flags, 0o644)
	if errors.Is(err, os.ErrNotExist) && p.opts.TerminationLog == DefaultTerminationLog {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(cutAtRune(message, terminationLimit))
	return errors.Join(err, file.Close())
}

// logRecorder logs the end of what the flight recorder holds, and as much as
// there is if it fails.
func (p *exitProcedure) logRecorder() error {
	end := tail{limit: recorderLimit}
	_, err := p.opts.FlightRecorder.WriteTo(&end)
	p.log.Info("What the flight recorder holds", "omittedBytes", end.omitted(), "recorded", end.String())
	return err
}

// cutAtRune returns at most limit bytes of s, and no part of a rune.
func cutAtRune(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
