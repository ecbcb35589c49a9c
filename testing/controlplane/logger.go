// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"io"
	"sync"
)

// logger writes whole lines to a writer that need not be safe for concurrent use.
type logger struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *logger) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A log that cannot be written is no reason to fail the caller's test.
	_, _ = fmt.Fprintf(l.w, "controlplane: "+format+"\n", args...)
}
