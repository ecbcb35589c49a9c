// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNewStateDir(t *testing.T) {
	parent := t.TempDir()
	fresh := filepath.Join(parent, "fresh")
	dir, err := newStateDir(fresh)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("a directory that was asked for must stay: %v", err)
	}

	_, err = newStateDir(parent)
	wantError(t, err, "Options.Dir", parent, "not empty")

	file := filepath.Join(parent, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = newStateDir(file)
	wantError(t, err, "Options.Dir", file)
}

func TestTempDirIsRemovedAlsoForTheDead(t *testing.T) {
	parent := t.TempDir()
	alive, err := newTempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	dead, err := newTempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	dead.unlock() // As the kernel does when the owner is killed.

	third, err := newTempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead.path); !os.IsNotExist(err) {
		t.Errorf("directory of a dead owner: %v, want it gone", err)
	}
	if _, err := os.Stat(alive.path); err != nil {
		t.Errorf("directory of a live owner: %v", err)
	}
	for _, dir := range []*stateDir{alive, third} {
		if err := dir.remove(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir.path); !os.IsNotExist(err) {
			t.Errorf("removed directory: %v, want it gone", err)
		}
	}
}
