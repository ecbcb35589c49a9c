// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import "strings"

// tail is a writer that keeps the end of what is written to it.
type tail struct {
	limit   int
	kept    []byte // at most twice the limit
	written int64
}

// Write implements io.Writer. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	t.written += int64(n)
	p = p[max(n-t.limit, 0):]
	if len(t.kept)+len(p) > 2*t.limit {
		t.kept = t.kept[:copy(t.kept, t.end())]
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// String returns at most the last limit bytes, without part of a rune.
func (t *tail) String() string { return strings.ToValidUTF8(string(t.end()), "") }

// omitted returns how many bytes were written before those.
func (t *tail) omitted() int64 { return t.written - int64(len(t.end())) }

func (t *tail) end() []byte { return t.kept[max(len(t.kept)-t.limit, 0):] }
