// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// change is one edit that the API server has acknowledged. It was committed
// between before and after.
type change struct {
	key    string    // of the object in a store
	rv     uint64    // that it was given; zero: it was deleted
	before time.Time // just before it was sent
	after  time.Time // just after it was acknowledged
}

// ledger is the truth about one kind. A name is created once and deleted once,
// so that an object which is not there has either not come yet or is gone.
type ledger struct {
	mu      sync.Mutex
	changes []change
	leaving map[string]bool // whose deletion was sent, whatever became of it
}

func newLedger() *ledger { return &ledger{leaving: map[string]bool{}} }

func (l *ledger) add(c change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = append(l.changes, c)
}

// leave notes that an object is about to be deleted.
func (l *ledger) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving[key] = true
}

// since returns the changes from the n-th on.
func (l *ledger) since(n int) []change {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changes[n:len(l.changes):len(l.changes)]
}

func (l *ledger) isLeaving(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaving[key]
}

// lacks tells whether a store certainly does not hold a change. In doubt it holds
// it: what can be read off a store is the newest that it has of each object.
func (l *ledger) lacks(store cache.Store, c change) bool {
	obj, found, err := store.GetByKey(c.key)
	switch {
	case err != nil:
		return false
	case c.rv == 0:
		return found
	case !found:
		return !l.isLeaving(c.key) // looked at after the store: by now it may be gone for good
	}
	return resourceVersion(obj) < c.rv
}

// resourceVersion returns that of an object, or 0.
func resourceVersion(obj any) uint64 {
	m, err := meta.Accessor(obj)
	if err != nil {
		return 0
	}
	rv, err := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return rv
}
