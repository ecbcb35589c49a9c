// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// edits are changes that someone else makes to one object, numbered from 0, which
// is how it was made.
type edits struct {
	plane    *plane
	kind     kind
	ns, name string

	mu   sync.Mutex
	made []time.Time
}

// newEdits makes the object.
func newEdits(t *testing.T, p *plane, k kind, ns, name string) *edits {
	t.Helper()
	p.serve(t, k)
	e := &edits{plane: p, kind: k, ns: ns, name: name}
	e.make(t)
	return e
}

// make makes the next edit, and returns when it was stored.
func (e *edits) make(t testing.TB) time.Time {
	t.Helper()
	n := e.last() + 1
	e.plane.put(t, e.kind.object(e.ns, e.name, strconv.Itoa(n)), e.kind)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made = append(e.made, time.Now())
	return e.made[n]
}

// last returns the number of the last edit.
func (e *edits) last() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.made) - 1
}

func (e *edits) when(n int) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.made[n]
}

// diary is when an informer has shown which edits.
type diary struct {
	edits *edits

	mu   sync.Mutex
	seen []sighting
}

type sighting struct {
	edit int
	at   time.Time
}

func (d *diary) see(obj any) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || u.GetNamespace() != d.edits.ns || u.GetName() != d.edits.name {
		return
	}
	n, err := strconv.Atoi(colorOf(u))
	if err != nil {
		return // not one of the edits
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, sighting{n, time.Now()})
}

// at returns when the informer has first shown an edit, or a later one.
func (d *diary) at(n int) (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.seen {
		if s.edit >= n {
			return s.at, true
		}
	}
	return time.Time{}, false
}

func (d *diary) shows(n int) bool {
	_, shown := d.at(n)
	return shown
}

// delay returns how long after it was made an edit was shown; negative: never.
func (d *diary) delay(n int) time.Duration {
	at, shown := d.at(n)
	if !shown {
		return -1
	}
	// It may be shown before the answer to the write is here.
	return max(0, at.Sub(d.edits.when(n)))
}
