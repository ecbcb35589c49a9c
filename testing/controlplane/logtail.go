// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"io"
	"os"
	"strings"
)

// Bounds of the part of a component's log that goes into an error.
const (
	tailBytes = 4 << 10
	tailLines = 12
)

// logTail returns the last lines of the file at path, nothing from before offset, indented to stand below an error message.
func logTail(path string, offset int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	from := max(offset, size-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
	if err != nil {
		return ""
	}
	return lastLines(string(text), tailLines)
}

// lastLines returns at most n last lines of text, each on a line of its own and indented.
func lastLines(text string, n int) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-n):]
	return "\n\t" + strings.Join(lines, "\n\t")
}
