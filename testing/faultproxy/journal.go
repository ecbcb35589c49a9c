// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// Action says what happened to an injection.
type Action string

const (
	// Injected says that the fault is in force from now on.
	Injected Action = "injected"
	// Lifted says that Lift was called.
	Lifted Action = "lifted"
	// Expired says that the time given by Match.For is over.
	Expired Action = "expired"
	// Closed says that the proxy was closed while the fault was in force.
	Closed Action = "closed"
	// Failed says that the fault could not be undone; Note says why.
	Failed Action = "failed"
)

// Entry is one line of a proxy's record.
type Entry struct {
	// Time has a wall and a monotonic reading, so that differences are exact.
	Time time.Time
	// Injection numbers the injections of one proxy from 1; an injection and its lift have the same number.
	Injection uint64
	Action    Action
	// Fault and Target name the fault with its settings, and what it was aimed at.
	Fault  string
	Target string
	// Hits is how often the fault had acted by then.
	Hits int
	// Note is empty unless something went wrong.
	Note string
}

// recordLimit bounds the record of a proxy: the newest entries are kept. A test injects a handful of faults; a soak that
// toggles one every second keeps more than half an hour.
const recordLimit = 4096

// journal hands out injections and records what becomes of them.
type journal struct {
	logger logr.Logger

	mu      sync.Mutex
	last    uint64
	entries *ring[Entry]
	open    map[uint64]*Injection
}

func newJournal(logger logr.Logger) *journal {
	if logger.GetSink() == nil {
		logger = logr.Discard()
	}
	return &journal{logger: logger, entries: newRing[Entry](recordLimit), open: map[uint64]*Injection{}}
}

// inject records a new injection. undo is called once, when the injection ends.
func (j *journal) inject(fault, target string, undo func()) *Injection {
	j.mu.Lock()
	j.last++
	i := &Injection{id: j.last, fault: fault, target: target, lifted: make(chan struct{}), done: make(chan struct{})}
	j.open[i.id] = i
	j.mu.Unlock()
	i.end = func(a Action) {
		if undo != nil {
			undo()
		}
		j.mu.Lock()
		delete(j.open, i.id)
		j.mu.Unlock()
		j.note(i, a, "")
	}
	j.note(i, Injected, "")
	return i
}

func (j *journal) note(i *Injection, a Action, note string) {
	e := Entry{Time: time.Now(), Injection: i.id, Action: a, Fault: i.fault, Target: i.target, Hits: i.Hits(), Note: note}
	j.mu.Lock()
	j.entries.add(e)
	j.mu.Unlock()
	j.logger.Info("Fault "+string(a), "fault", i.fault, "target", i.target, "hits", e.Hits, "note", note)
}

func (j *journal) record() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.entries.all()
}

// close ends what is still in force.
func (j *journal) close() {
	j.mu.Lock()
	open := make([]*Injection, 0, len(j.open))
	for _, i := range j.open {
		open = append(open, i)
	}
	j.mu.Unlock()
	for _, i := range open {
		i.finish(Closed)
	}
}
