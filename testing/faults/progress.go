// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progress tells on standard error what is under way.
type progress struct {
	out     io.Writer
	verbose bool
	began   time.Time

	mu sync.Mutex
}

func newProgress(out io.Writer, verbose bool) *progress {
	return &progress{out: out, verbose: verbose, began: time.Now()}
}

func (p *progress) begin(r *row) { p.print("%-12s %s", r.id, r.fault) }

func (p *progress) end(r result) {
	if r.OK {
		p.print("%-12s ok: %s, healed after %s s by %s", r.ID, r.Verdict, figure(r.Healed), orDash(r.CuredBy))
	} else {
		p.print("%-12s NOT ok: %s", r.ID, strings.Join(r.complaints, "; "))
	}
	if r.history != "" && (p.verbose || !r.OK) {
		p.print("%-12s since the fault:\n%s", r.ID, strings.TrimRight(r.history, "\n"))
	}
	if p.verbose && !r.OK && len(r.asked) > 0 {
		p.print("%-12s requests since the fault:\n%s", r.ID, strings.Join(r.asked, "\n"))
	}
}

func (p *progress) print(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%6.1f s  %s\n", time.Since(p.began).Seconds(), fmt.Sprintf(format, args...))
}
