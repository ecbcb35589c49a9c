// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"sync"
	"time"
)

const (
	// progressInterval is short enough to show that a build goes on, and long enough not to fill a CI log.
	progressInterval = 15 * time.Second
	// progressTail is how much of the go command's output is kept for an error.
	progressTail = 8 << 10
)

// progress reads what "go build -v" prints, one line for each package that it compiles, and reports from time to time.
type progress struct {
	log   *logger
	name  Component
	total int // packages of the program; those in Go's build cache are never printed
	start time.Time
	quit  chan struct{}
	ended chan struct{}

	mu   sync.Mutex
	seen int
	tail []byte
}

func newProgress(log *logger, name Component, total int) *progress {
	p := &progress{
		log: log, name: name, total: total, start: time.Now(),
		quit: make(chan struct{}), ended: make(chan struct{}),
	}
	log.printf("%s: compiling", name)
	go p.report()
	return p
}

// Write takes a piece of the output.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen += bytes.Count(b, []byte("\n"))
	p.tail = append(p.tail, b...)
	p.tail = p.tail[max(0, len(p.tail)-progressTail):]
	return len(b), nil
}

// text is the end of the output.
func (p *progress) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.tail)
}

func (p *progress) report() {
	defer close(p.ended)
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			p.mu.Lock()
			seen := p.seen
			p.mu.Unlock()
			p.log.printf("%s: %d of at most %d packages compiled, %v", p.name, seen, p.total, time.Since(p.start).Round(time.Second))
		}
	}
}

// stop ends the reports.
func (p *progress) stop() {
	close(p.quit)
	<-p.ended
}
