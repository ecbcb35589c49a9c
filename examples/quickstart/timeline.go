// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	width   = 98              // columns of text; narrower than the usual 100
	indent  = 20              // columns before the text of an entry
	silence = 5 * time.Second // after which a terminal is told that the demo still runs
)

// timeline prints what happens, while it happens. It is safe for concurrent use.
type timeline struct {
	out      io.Writer
	terminal bool // say that time passes
	color    bool

	mu   sync.Mutex
	zero time.Time // what the times are relative to
	last time.Time // the newest entry
}

// newTimeline returns a timeline that prints to out, which need not be a terminal.
func newTimeline(out io.Writer) *timeline {
	f, ok := out.(*os.File)
	terminal := ok && term.IsTerminal(int(f.Fd()))
	return &timeline{
		out: out, terminal: terminal,
		color: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// print prints text as it is.
func (t *timeline) print(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprint(t.out, text)
}

// begin starts a section whose times are relative to now.
func (t *timeline) begin(now time.Time, title string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.zero, t.last = now, now
	fmt.Fprintf(t.out, "\n%s\n", title)
}

// entry prints one line: when, who, what.
func (t *timeline) entry(now time.Time, who, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = now
	fmt.Fprint(t.out, formatEntry(now.Sub(t.zero), who, what, t.color))
}

// idle prints that time passes, where somebody watches and nothing else happens.
func (t *timeline) idle(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.terminal && now.Sub(t.last) >= silence {
		t.last = now
		fmt.Fprint(t.out, formatEntry(now.Sub(t.zero), "", "...", false))
	}
}

// formatEntry lays an entry out. Text that is too long goes on below itself.
func formatEntry(at time.Duration, who, what string, color bool) string {
	name := fmt.Sprintf("%-8s", who)
	if code := colorOfName(who); color && code != "" {
		name = "\x1b[" + code + "m" + name + "\x1b[0m"
	}
	return fmt.Sprintf("%8s  %s  %s\n", since(at), name, wrap(what, indent))
}

// colorOfName returns the terminal's code for a name's color.
func colorOfName(who string) string {
	switch who {
	case guarded:
		return "32"
	case stock:
		return "33"
	case "fault":
		return "31"
	case "edit":
		return "36"
	default:
		return ""
	}
}

// wrap breaks text between words into lines that end before width, all but the
// first with an indent.
func wrap(text string, indent int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// since formats a time relative to another.
func since(d time.Duration) string { return fmt.Sprintf("%+.1fs", d.Seconds()) }

// short formats a duration so that milliseconds and minutes both fit.
func short(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
