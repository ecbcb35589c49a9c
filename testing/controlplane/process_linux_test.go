// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func startScript(t *testing.T, body string) (*process, string) {
	t.Helper()
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p, err := startProcess(writeScript(t, dir, "program", "cd "+dir+"\n"+body), nil, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.kill(); err != nil {
			t.Error(err)
		}
	})
	return p, dir
}

func TestKillEndsTheGroup(t *testing.T) {
	p, dir := startScript(t, "/bin/sleep 600 & echo $! > child.new; mv child.new child; wait")
	child := filepath.Join(dir, "child")
	eventually(t, "the script has started its child", func() bool { _, err := os.Stat(child); return err == nil })
	pid := readPID(t, child)
	if err := stopGroup(context.Background(), p.pid); err != nil {
		t.Fatal(err)
	}
	if err := p.kill(); err != nil { // Paused or not.
		t.Fatal(err)
	}
	if !p.exited() {
		t.Error("the process was not reaped")
	}
	waitGone(t, pid)
	if err := p.kill(); err != nil {
		t.Errorf("killed again: %v", err)
	}
}

func TestStopGroupReturnsWhenStopped(t *testing.T) {
	p, _ := startScript(t, "while :; do :; done")
	for range 20 {
		if err := stopGroup(context.Background(), p.pid); err != nil {
			t.Fatal(err)
		}
		if stopped, err := isStopped(p.pid); err != nil || !stopped {
			t.Fatalf("stopped %v, %v", stopped, err)
		}
		if err := continueGroup(p.pid); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the script runs again", func() bool { stopped, _ := isStopped(p.pid); return !stopped })

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := stopGroup(ctx, os.Getpid()); err == nil {
		t.Error("stopped a group that does not exist")
	}
}

func TestComponentEnvIsClean(t *testing.T) {
	t.Setenv("ETCD_NAME", "other")
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	t.Setenv("GODEBUG", "http2debug=1")
	t.Setenv("GOMAXPROCS", "3")
	p, dir := startScript(t, "env > env")
	<-p.done
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ETCD_", "KUBE_", "GODEBUG"} {
		if strings.Contains(string(env), name) {
			t.Errorf("components see %s*", name)
		}
	}
	if !strings.Contains(string(env), "GOMAXPROCS=3") {
		t.Errorf("components do not see GOMAXPROCS: %s", env)
	}
}

func TestStartProcessWithoutProgram(t *testing.T) {
	_, err := startProcess(filepath.Join(t.TempDir(), "absent"), nil, nil)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want %v", err, os.ErrNotExist)
	}
}

func TestProcessDiesWithItsParent(t *testing.T) {
	parent := helperProcess(t, "parent", t.TempDir())
	if _, err := parent.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if !alive(child) {
		t.Fatal("the child does not run, so its end would prove nothing")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // Killed, as it should be.
	waitGone(t, child)
}
