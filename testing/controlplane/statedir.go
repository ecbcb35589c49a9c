// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Temporary state directories begin with tempPrefix and hold a file named tempLock, which their owner keeps locked while it lives.
const (
	tempPrefix = "freshwatch-controlplane-"
	tempLock   = "owner.lock"
)

// stateDir is where one control plane keeps its files.
type stateDir struct {
	path      string
	temporary bool
	unlock    func()
}

// newStateDir prepares the directory of that name, or a temporary one if the name is empty.
func newStateDir(name string) (*stateDir, error) {
	if name == "" {
		return newTempDir(os.TempDir())
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("Options.Dir: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("Options.Dir: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("Options.Dir: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("Options.Dir: %s is not empty: each control plane needs a directory of its own", path)
	}
	return &stateDir{path: path, unlock: func() {}}, nil
}

// newTempDir makes a directory in parent, after removing those whose owners were killed before they could.
func newTempDir(parent string) (*stateDir, error) {
	sweepTempDirs(parent)
	path, err := os.MkdirTemp(parent, tempPrefix)
	if err != nil {
		return nil, err
	}
	// The lock gets its name when it is held: under that name, a sweep may take it.
	lock := filepath.Join(path, tempLock)
	unlock, err := tryLock(lock + ".new")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	if err := os.Rename(lock+".new", lock); err != nil {
		unlock()
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return &stateDir{path: path, temporary: true, unlock: unlock}, nil
}

// sweepTempDirs removes temporary directories that nobody owns any more. It is a courtesy: what cannot be removed stays.
func sweepTempDirs(parent string) {
	locks, err := filepath.Glob(filepath.Join(parent, tempPrefix+"*", tempLock))
	if err != nil {
		return
	}
	for _, lock := range locks {
		if unlock, err := tryLock(lock); err == nil {
			_ = os.RemoveAll(filepath.Dir(lock))
			unlock()
		}
	}
}

// remove removes a temporary directory and leaves any other.
func (d *stateDir) remove() error {
	defer d.unlock()
	if !d.temporary {
		return nil
	}
	return os.RemoveAll(d.path)
}
