// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"fmt"
	"sync"
)

// Injection is one fault in force. It ends when it is lifted, when the time it was given is over, or with its proxy. All
// methods are safe for concurrent use.
type Injection struct {
	id     uint64
	fault  string
	target string
	end    func(Action) // undoes the fault; called once

	once   sync.Once
	lifted chan struct{} // closed first, for those whom the fault holds
	done   chan struct{} // closed last

	mu      sync.Mutex
	hits    int
	changed notifier
}

// Lift takes the fault away. What that means for what it already hit is written at each fault: a silenced stream, for
// one, stays dead. Lifting twice does nothing.
func (i *Injection) Lift() { i.finish(Lifted) }

// Hits returns how often the fault has acted; each fault says what it counts.
func (i *Injection) Hits() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.hits
}

// WaitHits blocks until the fault has acted at least n times and returns nil, or until ctx is done and returns its
// error. Tests use it where they would otherwise sleep.
func (i *Injection) WaitHits(ctx context.Context, n int) error {
	for {
		changed := i.changed.next()
		hits := i.Hits()
		if hits >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %d of %d hits: %w", i, hits, n, context.Cause(ctx))
		case <-changed:
		}
	}
}

// Done returns a channel that is closed when the fault has ended and that is on the record.
func (i *Injection) Done() <-chan struct{} { return i.done }

// String names the fault and what it is aimed at.
func (i *Injection) String() string {
	if i.target == "" {
		return i.fault
	}
	return i.fault + " on " + i.target
}

func (i *Injection) hit() { i.hitN(1) }

func (i *Injection) hitN(n int) {
	if n == 0 {
		return
	}
	i.mu.Lock()
	i.hits += n
	i.mu.Unlock()
	i.changed.notify()
}

func (i *Injection) finish(a Action) {
	i.once.Do(func() {
		close(i.lifted)
		i.end(a)
		close(i.done)
	})
}

// over reports whether the fault has ended.
func (i *Injection) over() bool {
	select {
	case <-i.lifted:
		return true
	default:
		return false
	}
}
