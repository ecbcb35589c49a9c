// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import "sync"

// notifier wakes everybody who waits for the next change. The channel has to be taken before the state is read, so that a
// change between the two is not missed. The zero value is ready to use.
type notifier struct {
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that is closed at the next change.
func (n *notifier) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

// notify announces a change.
func (n *notifier) notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}
