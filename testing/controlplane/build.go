// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// buildSource builds what the cache lacks of a source. Of any number of callers, in any number of processes, one builds and
// the others wait and then find the result. Each binary enters the cache by a rename when it is finished, so an aborted build is
// taken up where it was and never mistaken for a finished one.
func buildSource(ctx context.Context, s source, need []Component, cache string, log *logger) error {
	b := &builder{source: s, cache: cache, log: log, newCompiler: newGoCompiler}
	return b.build(ctx, need)
}

// compiler turns the source of one component into a binary at path.
type compiler interface {
	compile(ctx context.Context, name Component, path string) error
}

// builder fills the cache directory of one source.
type builder struct {
	source      source
	cache       string
	log         *logger
	newCompiler func(ctx context.Context, s source, workDir string, log *logger) (compiler, error)
}

func (b *builder) build(ctx context.Context, need []Component) error {
	target := filepath.Join(b.cache, b.source.key())
	if err := os.MkdirAll(target, 0o700); err != nil {
		return err
	}
	unlock, err := lockFile(ctx, target+".lock", func(holder string) {
		b.log.printf("process %s is building %v: waiting for it", holder, b.source)
	})
	if err != nil {
		return fmt.Errorf("waiting for another build of %v: %w", b.source, err)
	}
	defer unlock()
	absent := missing(target, need)
	if len(absent) == 0 {
		return nil
	}
	return b.buildLocked(ctx, absent, target)
}

// buildLocked builds components in a work directory beside the target. The caller holds the lock.
func (b *builder) buildLocked(ctx context.Context, absent []Component, target string) (err error) {
	work := target + ".build"
	// A build that was killed leaves its work directory behind.
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	b.log.printf("building %s (%v) from source into %s: the first build takes some %s, later starts take seconds",
		join(absent), b.source, target, b.source.effort())
	c, err := b.newCompiler(ctx, b.source, work, b.log)
	if err != nil {
		return err
	}
	for _, name := range absent {
		path := filepath.Join(work, string(name))
		if err := c.compile(ctx, name, path); err != nil {
			return err
		}
		if err := os.Rename(path, filepath.Join(target, string(name))); err != nil {
			return err
		}
	}
	return nil
}
