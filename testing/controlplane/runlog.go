// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"io"
	"os"
	"strings"
)

// Bounds of how much of a component's log is looked at, and of how much goes into an error.
const (
	runLogBytes  = 64 << 10
	excerptLines = 12
	excerptBytes = 4 << 10
)

// runLog returns the end of the log file at path, nothing from before offset.
func runLog(path string, offset int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	from := max(offset, size-runLogBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
	if err != nil {
		return ""
	}
	return string(text)
}

// excerpt returns what of a log explains an end: a panic and what follows it, or the last lines. It is indented to stand below an
// error message.
func excerpt(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return " (nothing)"
	}
	if at := strings.LastIndex("\n"+text, "\npanic: "); at >= 0 {
		text = text[at:min(len(text), at+excerptBytes)]
		lines := strings.Split(text, "\n")
		return indent(lines[:min(len(lines), excerptLines)])
	}
	text = text[max(0, len(text)-excerptBytes):]
	lines := strings.Split(text, "\n")
	return indent(lines[max(0, len(lines)-excerptLines):])
}

func indent(lines []string) string { return "\n\t" + strings.Join(lines, "\n\t") }
