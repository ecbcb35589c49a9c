// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// goCompiler builds with the go command, inside a module made for the purpose. It is generated rather than checked in because a module
// inside this one would not be part of what users download.
type goCompiler struct {
	goTool string
	module string // the generated module's directory
	source source
	log    *logger
}

// newGoCompiler generates the module in workDir.
func newGoCompiler(ctx context.Context, s source, workDir string, log *logger) (compiler, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("cannot build %v: no Go compiler, the command \"go\" is not on PATH", s)
	}
	c := &goCompiler{goTool: goTool, module: filepath.Join(workDir, "module"), source: s, log: log}
	if err := os.Mkdir(c.module, 0o700); err != nil {
		return nil, err
	}
	return c, c.generate(ctx)
}

// generate writes the module's go.mod.
func (c *goCompiler) generate(ctx context.Context) error {
	// Without a go.mod of its own the go command would work in whatever module the cache directory happens to be in.
	if err := c.writeMod([]byte("module " + generatedModule + "\n")); err != nil {
		return err
	}
	content, err := c.source.goMod(ctx, c)
	if err != nil {
		return err
	}
	return c.writeMod(content)
}

// describe returns the go.mod of a published module.
func (c *goCompiler) describe(ctx context.Context, module, version string) (modFile, error) {
	var described modFile
	step := fmt.Sprintf("download the go.mod of %v", c.source)
	path, err := c.run(ctx, step, "list", "-m", "-f", "{{.GoMod}}", module+"@v"+version)
	if err != nil {
		return described, err
	}
	parsed, err := c.run(ctx, "read it", "mod", "edit", "-json", strings.TrimSpace(path))
	if err != nil {
		return described, err
	}
	if err := json.Unmarshal([]byte(parsed), &described); err != nil {
		return described, fmt.Errorf("go.mod of %v: %w", c.source, err)
	}
	return described, nil
}

func (c *goCompiler) writeMod(content []byte) error {
	return os.WriteFile(filepath.Join(c.module, "go.mod"), content, 0o600)
}

// compile downloads what the component needs and builds it.
func (c *goCompiler) compile(ctx context.Context, name Component, path string) error {
	c.log.printf("%s: downloading its modules", name)
	packages, err := c.run(ctx, "download the modules of "+string(name), "list", "-deps", c.source.mainPackage(name))
	if err != nil {
		return err
	}
	start := time.Now()
	p := newProgress(c.log, name, strings.Count(packages, "\n"))
	defer p.stop()
	cmd := c.command(ctx, "build", "-v", "-trimpath", "-ldflags", strings.Join(c.source.ldflags(), " "), "-o", path, c.source.mainPackage(name))
	cmd.Stderr = p
	if err := runLocked(cmd); err != nil {
		return c.failed(ctx, "build "+string(name), err, p.text())
	}
	c.log.printf("%s: built in %v", name, time.Since(start).Round(time.Second))
	return nil
}

// command is the go command in the generated module. The user's workspace, flags and target platform are not meant for it; proxies,
// caches and the toolchain are. Without cgo no C compiler is needed and the binaries run on any Linux.
func (c *goCompiler) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := groupCommand(ctx, c.goTool, args...)
	cmd.Dir = c.module
	cmd.Env = append(os.Environ(), "GO111MODULE=on", "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0", "GOOS=", "GOARCH=")
	return cmd
}

// run returns the output of the go command. step completes the sentence "cannot ...".
func (c *goCompiler) run(ctx context.Context, step string, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := c.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := runLocked(cmd); err != nil {
		return "", c.failed(ctx, step, err, stderr.String())
	}
	return stdout.String(), nil
}

// failed puts the reason for a failure of the go command into one line.
func (c *goCompiler) failed(ctx context.Context, step string, err error, stderr string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("cannot %s: %w", step, context.Cause(ctx))
	}
	if line := lineWith(stderr, diskFull); line != "" {
		return fmt.Errorf("cannot %s: %w, a first build needs about %s in all: %s", step, errDiskFull, spaceNeeded, line)
	}
	return fmt.Errorf("cannot %s: %w: %s", step, err, lastLine(stderr))
}

// spaceNeeded is what one release was seen to take in the cache, in Go's caches and in the temporary directory together.
const spaceNeeded = "6 GB"

var errDiskFull = errors.New("the disk is full")

// diskFull is how every program here, all written in Go, says ENOSPC.
const diskFull = "no space left on device"
