// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Checkpoint is a copy of everything in the datastore at one moment. It is valid until Stop of the control plane it was taken from.
type Checkpoint struct {
	owner *ControlPlane
	dir   string
}

// Checkpoint copies etcd's data, or kine's. The datastore is paused for that, some tenths of a second, and then goes on as if nothing had
// been: no client notices. Every write that was acknowledged before the call is in the copy.
func (c *ControlPlane) Checkpoint(ctx context.Context) (*Checkpoint, error) {
	var taken *Checkpoint
	err := c.with("checkpoint", c.opts.Datastore, func(datastore *component) error {
		c.checkpoints++
		dir := c.file(fmt.Sprintf("checkpoint-%d", c.checkpoints))
		if err := copyPaused(ctx, datastore, dir, c.data()); err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
		taken = &Checkpoint{owner: c, dir: dir}
		return nil
	})
	return taken, err
}

// copyPaused copies the data directory of a process that does not run meanwhile. What it has written is in the kernel's hands, so the
// copy is what a crash at this moment would leave, which etcd and SQLite recover from by design.
func copyPaused(ctx context.Context, datastore *component, to, from string) error {
	wasPaused := datastore.paused
	if err := datastore.pause(ctx); err != nil {
		return err
	}
	err := copyData(to, from)
	if !wasPaused {
		err = errors.Join(err, datastore.resume())
	}
	return err
}

// Rewind puts the datastore's data back to a checkpoint: resourceVersions go backwards for every client, as after the restore of a backup.
// All components are killed, the datastore gets the earlier data, and all are started again on the same ports; clients see their connections
// lost. It returns when every component is ready. A checkpoint can be used more than once. After an error some components do not run.
func (c *ControlPlane) Rewind(ctx context.Context, to *Checkpoint) error {
	if to == nil || to.owner != c {
		return errors.New("controlplane: rewind: the checkpoint is not one of this control plane")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.rewind(ctx, to); err != nil {
		return fmt.Errorf("controlplane: rewind: %w", err)
	}
	return nil
}

func (c *ControlPlane) rewind(ctx context.Context, to *Checkpoint) error {
	if c.stopped {
		return errStopped
	}
	for _, comp := range slices.Backward(c.components) {
		if err := comp.kill(); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(c.data()); err != nil {
		return err
	}
	if err := copyData(c.data(), to.dir); err != nil {
		return err
	}
	for _, comp := range c.components {
		if err := comp.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// data is the datastore's directory.
func (c *ControlPlane) data() string { return c.file(string(c.opts.Datastore)) }

// copyData copies a data directory, without the log segments that etcd allocates in advance and that hold nothing yet.
func copyData(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, ".tmp") {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		return copyFile(target, path)
	})
}
