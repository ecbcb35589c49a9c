// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

var errLocked = errors.New("another process holds the lock")

// defaultLock is one per user, since nobody can write to another's.
func defaultLock() string {
	return filepath.Join(os.TempDir(), "cacheprobe-"+strconv.Itoa(os.Getuid())+".lock")
}

// sure keeps those that are frozen by enough samples.
func sure(subjects []*subject) []*subject {
	var all []*subject
	for _, s := range subjects {
		if len(s.samples) >= surely && judge(s.samples).verdict == frozen {
			all = append(all, s)
		}
	}
	return all
}

// names returns each server's address once.
func names(subjects []*subject) []string {
	var all []string
	for _, s := range subjects {
		if !slices.Contains(all, s.server.name) {
			all = append(all, s.server.name)
		}
	}
	return all
}

// act runs the command if something is frozen for sure: holding the lock, not soon
// after the last time, and only if it is still so after a random wait, in which
// another node may have cured it.
func (w *watchman) act(ctx context.Context, subjects []*subject) {
	suspects := sure(subjects)
	if len(suspects) == 0 {
		return
	}
	if w.opts.dryRun {
		w.say("would run %q with FROZEN_SERVERS=%q", w.opts.onFrozen, strings.Join(names(suspects), " "))
		return
	}
	lock, err := lockFile(w.opts.lock)
	if err != nil {
		w.say("does not run %q: %s: %v", w.opts.onFrozen, w.opts.lock, err)
		return
	}
	defer lock.Close()
	if err := cooled(lock, w.opts.cooldown, time.Now()); err != nil {
		w.say("does not run %q: %v", w.opts.onFrozen, err)
		return
	}
	if wait(ctx, time.Duration(w.random()*float64(w.opts.jitter))) != nil {
		return
	}
	lookAtAll(ctx, suspects)
	if suspects = sure(suspects); len(suspects) == 0 {
		w.say("does not run %q: not frozen any more", w.opts.onFrozen)
		return
	}
	// Noted before, so that a command which takes this process down counts.
	if _, err := lock.WriteAt([]byte(time.Now().UTC().Format(stamp)), 0); err != nil {
		w.say("does not run %q: %v", w.opts.onFrozen, err)
		return
	}
	w.say("runs %q", w.opts.onFrozen)
	if err := w.command(ctx, names(suspects)); err != nil {
		w.say("%q: %v", w.opts.onFrozen, err)
	}
}

func (w *watchman) command(ctx context.Context, servers []string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", w.opts.onFrozen)
	cmd.Env = append(os.Environ(), "FROZEN_SERVERS="+strings.Join(servers, " "))
	cmd.Stdout, cmd.Stderr = w.stderr, w.stderr // standard output is the report's
	return cmd.Run()
}

func (w *watchman) say(format string, args ...any) {
	fmt.Fprintf(w.stderr, "cacheprobe: "+format+"\n", args...)
}

// stamp has the same length at any time.
const stamp = "2006-01-02T15:04:05Z\n"

// cooled reads from the lock file when the command was run last.
func cooled(lock io.Reader, cooldown time.Duration, now time.Time) error {
	text, err := io.ReadAll(lock)
	if err != nil || len(text) == 0 {
		return err
	}
	last, err := time.Parse(stamp, string(text))
	if err != nil {
		return fmt.Errorf("the lock file does not say when it was run last: %w", err)
	}
	if age := now.Sub(last); age >= 0 && age < cooldown {
		return fmt.Errorf("it was run %v ago, and -cooldown is %v", age.Round(time.Second), cooldown)
	}
	return nil
}
