// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func TestOnFrozen(t *testing.T) {
	for _, test := range []struct {
		name    string
		args    []string
		arrange func(s scripted, lock string)
		runs    int
		said    string
	}{
		{name: "frozen", runs: 1, said: "runs"},
		{name: "dry", args: []string{"-dry-run"}, said: `would run`},
		{name: "healthy", arrange: func(s scripted, _ string) { s.thaw() }},
		{name: "forbidden", arrange: func(s scripted, _ string) { s.Deny(leases().resource) }},
		{name: "unreachable", arrange: func(s scripted, _ string) { s.Refuse() }},
		{name: "thawed during the jitter", args: []string{"-jitter", "1m"}, arrange: func(s scripted, _ string) {
			time.AfterFunc(40*time.Second, s.thaw) // the samples take 29 s, the jitter 30
		}, said: "not frozen any more"},
		{name: "another at it", arrange: func(s scripted, lock string) {
			held, err := lockFile(lock)
			if err != nil {
				s.t.Fatal(err)
			}
			s.t.Cleanup(func() { held.Close() })
		}, said: "another process holds the lock"},
		{name: "just done", arrange: func(s scripted, lock string) { s.stamp(lock, time.Now().Add(-30*time.Minute)) }, said: "-cooldown is 1h"},
		{name: "done long ago", arrange: func(s scripted, lock string) { s.stamp(lock, time.Now().Add(-time.Hour)) }, runs: 1},
		{name: "lock that cannot be had", args: []string{"-lock", "/no/such/dir/lock"}, said: "/no/such/dir/lock"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				lock, out := filepath.Join(dir, "lock"), filepath.Join(dir, "out")
				s := newScripted(t, freshtest.Options{})
				s.freezeLeases()
				if test.arrange != nil {
					test.arrange(s, lock)
				}
				args := append([]string{"-on-frozen", `echo "$FROZEN_SERVERS" >> ` + out, "-lock", lock, "-jitter", "1s"}, test.args...)
				rep, said := s.probe(args...)
				if !strings.Contains(said, test.said) || (test.said == "" && test.runs == 0 && said != "") {
					t.Errorf("said %q, want something with %q", said, test.said)
				}
				text, _ := os.ReadFile(out)
				if got := strings.Count(string(text), "\n"); got != test.runs {
					t.Errorf("the command ran %d times, want %d; %+v", got, test.runs, rep)
				}
				if test.runs == 1 && strings.TrimSpace(string(text)) != rep.Checks[0].Server {
					t.Errorf("FROZEN_SERVERS was %q, want %q", text, rep.Checks[0].Server)
				}
			})
		})
	}
}

func TestOnFrozenRunsOncePerCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		lock, out := filepath.Join(dir, "lock"), filepath.Join(dir, "out")
		s := newScripted(t, freshtest.Options{})
		s.freezeLeases()
		for range 3 {
			rep, said := s.probe("-on-frozen", "echo ran >> "+out+"; exit 7", "-lock", lock, "-cooldown", "10m")
			wantVerdict(t, rep, said, frozen, "")
			time.Sleep(5 * time.Minute)
		}
		text, err := os.ReadFile(out)
		if err != nil || string(text) != "ran\nran\n" {
			t.Errorf("%q, %v; want two runs in three", text, err)
		}
	})
}

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := lockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := lockFile(path); err == nil {
		second.Close()
		t.Error("the lock was had twice")
	}
	first.Close()
	again, err := lockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestLockFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "lock")
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	if file, err := lockFile(path); err == nil {
		file.Close()
		t.Error("a link was followed")
	}
}

func TestCooled(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name, text string
		ok         bool
	}{
		{"never", "", true},
		{"just within", now.Add(-time.Hour + time.Second).Format(stamp), false},
		{"just over", now.Add(-time.Hour).Format(stamp), true},
		{"a clock that was set back", now.Add(time.Minute).Format(stamp), true},
		{"another program's file", "4711\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := cooled(strings.NewReader(test.text), time.Hour, now); (err == nil) != test.ok {
				t.Errorf("got %v, want an error: %t", err, !test.ok)
			}
		})
	}
}
