// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// compilerFunc is a compiler for tests.
type compilerFunc func(ctx context.Context, name Component, path string) error

func (f compilerFunc) compile(ctx context.Context, name Component, path string) error {
	return f(ctx, name, path)
}

func (f compilerFunc) new(context.Context, source, string, *logger) (compiler, error) { return f, nil }

// recordingCompiler adds a line to dir/compiled for each binary that it makes.
func recordingCompiler(dir string) func(context.Context, source, string, *logger) (compiler, error) {
	return compilerFunc(func(_ context.Context, name Component, path string) error {
		record, err := os.OpenFile(filepath.Join(dir, "compiled"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = record.WriteString(string(name) + "\n")
		return errors.Join(err, record.Close(), os.WriteFile(path, []byte("binary"), 0o700))
	}).new
}

// compiled lists what recordingCompiler made.
func compiled(t *testing.T, dir string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "compiled"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(content))
}

func TestTwoProcessesBuildOnce(t *testing.T) {
	dir := t.TempDir()
	// This process holds the lock until both others are seen to wait, so neither can be done before the other comes.
	unlock, err := tryLock(filepath.Join(dir, releases()[0].key()+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	var both, waiting sync.WaitGroup
	for range 2 {
		output := &waitWriter{waiting: waiting.Done}
		waiting.Add(1)
		cmd := helperProcess(t, "build", dir)
		cmd.Stdout = output
		both.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("helper: %v", err)
			}
			output.once.Do(waiting.Done) // It ended without waiting: do not hang.
			if !strings.Contains(output.text.String(), "waiting for it") {
				t.Errorf("a process that waits says %q", output.text.String())
			}
		})
	}
	waiting.Wait()
	unlock()
	both.Wait()
	if got := compiled(t, dir); len(got) != 1 {
		t.Errorf("compiled %v, want etcd once", got)
	}
}

// waitWriter calls waiting once when something is written.
type waitWriter struct {
	testLog
	once    sync.Once
	waiting func()
}

func (w *waitWriter) Write(b []byte) (int, error) {
	n, err := w.testLog.Write(b)
	w.once.Do(w.waiting)
	return n, err
}

func TestBuildMakesOnlyWhatIsAbsent(t *testing.T) {
	dir := t.TempDir()
	log, _ := newTestLog()
	b := &builder{source: releases()[0], cache: dir, log: log, newCompiler: recordingCompiler(dir)}
	for _, need := range [][]Component{{Etcd, APIServer}, {Etcd, APIServer, Scheduler}, {APIServer}} {
		if err := b.build(context.Background(), need); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(compiled(t, dir), " "), "etcd kube-apiserver kube-scheduler"; got != want {
		t.Errorf("compiled %q, want %q", got, want)
	}
}

func TestAbortedBuildNeverLooksFinished(t *testing.T) {
	dir := t.TempDir()
	log, _ := newTestLog()
	r := releases()[0]
	target := filepath.Join(dir, r.key())
	abort := errors.New("aborted")
	half := compilerFunc(func(_ context.Context, name Component, path string) error {
		if err := os.WriteFile(path, []byte("half"), 0o700); err != nil || name == Etcd {
			return err
		}
		return abort
	})
	b := &builder{source: r, cache: dir, log: log, newCompiler: half.new}
	need := []Component{Etcd, APIServer}
	if err := b.build(context.Background(), need); !errors.Is(err, abort) {
		t.Fatalf("got %v, want %v", err, abort)
	}
	if got := missing(target, need); len(got) != 1 || got[0] != APIServer {
		t.Errorf("missing after the abort: %v, want kube-apiserver alone: etcd was finished", got)
	}

	// A killed builder cannot clean up; the next one does.
	if err := os.MkdirAll(filepath.Join(target+".build", "module"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.newCompiler = recordingCompiler(dir)
	if err := b.build(context.Background(), need); err != nil {
		t.Fatal(err)
	}
	if got := compiled(t, dir); len(got) != 1 || got[0] != "kube-apiserver" {
		t.Errorf("compiled %v, want kube-apiserver alone", got)
	}
	if _, err := os.Stat(target + ".build"); !os.IsNotExist(err) {
		t.Errorf("work directory: %v, want it gone", err)
	}
}

func TestWaitForBuildEndsWithContext(t *testing.T) {
	dir := t.TempDir()
	r := releases()[0]
	unlock, err := tryLock(filepath.Join(dir, r.key()+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(context.Background())
	b := &builder{source: r, cache: dir, newCompiler: recordingCompiler(dir)}
	b.log = &logger{w: &waitWriter{waiting: cancel}}
	err = b.build(ctx, []Component{Etcd})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	wantError(t, err, "waiting for another build of Kubernetes "+r.kubernetes)
}
