// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(context.Background(), path, func(string) { t.Error("waited for a free lock") })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tryLock(path); err == nil {
		t.Error("tryLock took a lock that is held")
	}

	var named string
	second, err := lockFile(context.Background(), path, func(holder string) {
		named = holder
		unlock()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer second()
	if want := strconv.Itoa(os.Getpid()); named != want {
		t.Errorf("holder is %q, want process %s", named, want)
	}
}
