// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// The environment variables that tell the test binary which part to play, and where.
const (
	helperRole = "CONTROLPLANE_TEST_HELPER"
	helperDir  = "CONTROLPLANE_TEST_DIR"
)

// helperProcess is this test binary in another process, playing a role of playHelper.
func helperProcess(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperRole+"="+role, helperDir+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

func playHelper(role string) error {
	dir := os.Getenv(helperDir)
	switch role {
	case "build":
		return helperBuild(dir)
	case "parent":
		return helperParent(dir)
	}
	return fmt.Errorf("no helper plays %q", role)
}

// helperBuild builds etcd in the cache dir by a compiler that records each of its runs.
func helperBuild(dir string) error {
	b := &builder{source: releases()[0], cache: dir, log: &logger{w: os.Stdout}, newCompiler: recordingCompiler(dir)}
	return b.build(context.Background(), []Component{Etcd})
}

// helperParent starts a process that would outlive it, prints its id and waits to be killed.
func helperParent(dir string) error {
	log, err := os.CreateTemp(dir, "log")
	if err != nil {
		return err
	}
	child, err := startProcess("/bin/sleep", []string{"600"}, log)
	if err != nil {
		return err
	}
	fmt.Println(child.pid)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
