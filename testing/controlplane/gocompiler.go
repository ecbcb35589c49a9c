// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// mainPackage is where the source of a component's program is. A datastore other than etcd would be one more entry here, one more
// requirement of the module, and a command line.
func mainPackage(name Component) string {
	if name == Etcd {
		return etcdModule
	}
	return kubernetesModule + "/cmd/" + string(name)
}

// goCompiler builds with the go command, inside a module made for the purpose. It is generated rather than checked in because a module
// inside this one would not be part of what users download.
type goCompiler struct {
	goTool  string
	module  string // the generated module's directory
	release release
	log     *logger
}

// newGoCompiler generates the module in workDir.
func newGoCompiler(ctx context.Context, r release, workDir string, log *logger) (compiler, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("cannot build Kubernetes %s: no Go compiler, the command \"go\" is not on PATH", r.kubernetes)
	}
	c := &goCompiler{goTool: goTool, module: filepath.Join(workDir, "module"), release: r, log: log}
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
	step := "download the go.mod of Kubernetes " + c.release.kubernetes
	path, err := c.run(ctx, step, "list", "-m", "-f", "{{.GoMod}}", kubernetesModule+"@v"+c.release.kubernetes)
	if err != nil {
		return err
	}
	parsed, err := c.run(ctx, "read it", "mod", "edit", "-json", strings.TrimSpace(path))
	if err != nil {
		return err
	}
	content, err := generateMod(c.release, []byte(parsed))
	if err != nil {
		return err
	}
	return c.writeMod(content)
}

func (c *goCompiler) writeMod(content []byte) error {
	return os.WriteFile(filepath.Join(c.module, "go.mod"), content, 0o600)
}

// compile downloads what the component needs and builds it.
func (c *goCompiler) compile(ctx context.Context, name Component, path string) error {
	c.log.printf("%s: downloading its modules", name)
	packages, err := c.run(ctx, "download the modules of "+string(name), "list", "-deps", mainPackage(name))
	if err != nil {
		return err
	}
	start := time.Now()
	p := newProgress(c.log, name, strings.Count(packages, "\n"))
	defer p.stop()
	cmd := c.command(ctx, "build", "-v", "-trimpath", "-ldflags", c.ldflags(), "-o", path, mainPackage(name))
	cmd.Stderr = p
	if err := runLocked(cmd); err != nil {
		return c.failed(ctx, "build "+string(name), err, p.text())
	}
	c.log.printf("%s: built in %v", name, time.Since(start).Round(time.Second))
	return nil
}

// ldflags strips what only a debugger needs and sets the version, which Kubernetes's own build takes from git.
func (c *goCompiler) ldflags() string {
	major, rest, _ := strings.Cut(c.release.kubernetes, ".")
	minor, _, _ := strings.Cut(rest, ".")
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X "+pkg+".gitVersion=v"+c.release.kubernetes,
			"-X "+pkg+".gitMajor="+major,
			"-X "+pkg+".gitMinor="+minor)
	}
	return strings.Join(flags, " ")
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
