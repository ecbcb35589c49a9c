// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lockInterval is how often a waiting process asks for the lock again. The kernel's own wait could not be cancelled.
const lockInterval = 200 * time.Millisecond

// lockFile takes an exclusive lock that the kernel releases when this process ends, however it ends. If another holds it, waiting is
// called once with the holder's process id, then lockFile waits. The file stays: removing it would let two callers hold two locks.
func lockFile(ctx context.Context, path string, waiting func(holder string)) (unlock func(), err error) {
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := waitLock(ctx, file, waiting); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	// For the next one's message only: a failure changes nothing.
	_ = file.Truncate(0)
	_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	return func() { _ = file.Close() }, nil
}

// tryLock is lockFile for a caller that does not wait: if another holds the lock, it returns an error.
func tryLock(path string) (unlock func(), err error) {
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := flock(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil
}

func openLock(path string) (*os.File, error) { return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) }

func flock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

func waitLock(ctx context.Context, file *os.File, waiting func(holder string)) error {
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for first := true; ; first = false {
		err := flock(file)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if first {
			waiting(holder(file))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// holder is the process id in the lock file, for people.
func holder(file *os.File) string {
	content, _ := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if id := strings.TrimSpace(string(content)); id != "" {
		return id
	}
	return "(unknown)"
}
