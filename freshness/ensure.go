// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrNotFresh is matched by the error of EnsureFresh where an informer could not
// be proven as fresh as was asked. It is a *NotFreshError.
var ErrNotFresh = errors.New("freshness: not fresh enough")

// ErrNotMonitored is matched by the error of EnsureFresh where no informer of the
// kind is monitored.
var ErrNotMonitored = errors.New("freshness: no such informer is monitored")

// NotFreshError says which informer could not be proven fresh, and why.
type NotFreshError struct {
	// Status is the informer's at the time of the error.
	Status Status
	// MaxAge is what was asked for.
	MaxAge time.Duration
	// Cause is why nobody waited longer: the context's error, or nil where waiting
	// is no use.
	Cause error
}

// Error implements error.
func (e *NotFreshError) Error() string {
	known := "has not been proven fresh yet"
	if !e.Status.FreshAsOf.IsZero() {
		known = fmt.Sprintf("is proven fresh as of %v ago", e.Status.Staleness.Round(time.Millisecond))
	}
	text := fmt.Sprintf("freshness: %v %s, asked for was at most %v; %v: %s", e.Status.Informer, known, e.MaxAge, e.Status.Verdict, e.Status.Reason)
	if e.Cause != nil {
		text += "; " + e.Cause.Error()
	}
	return text
}

// Is makes it an ErrNotFresh.
func (e *NotFreshError) Is(target error) bool { return target == ErrNotFresh }

// Unwrap returns the cause.
func (e *NotFreshError) Unwrap() error { return e.Cause }

// EnsureFresh returns once the cache of a kind is proven to hold every change
// that was committed up to maxAge before the call. Where the newest proof is
// younger, that is at once, and costs a lock. Otherwise a proof is made: a busy
// informer's comes with its next event, a quiet one's takes some 5 s, one list that
// returns nothing and one renewed watch. Callers at the same time share it.
//
// of names the kind by group and resource, both as in URLs: an empty Group is the
// core group. An empty Version stands for all, an empty Namespace for an informer of
// all namespaces, or each of one. All informers
// that match have to be fresh.
//
// The error matches ErrNotFresh if ctx ends first, or at once where nothing that
// this process does can prove it (ControlPlaneStalled, Blind), and
// ErrNotMonitored if there is no such informer. A negative maxAge counts as 0.
func (m *Monitor) EnsureFresh(ctx context.Context, of Informer, maxAge time.Duration) error {
	maxAge = max(maxAge, 0)
	moment := m.clock.Now().Add(-maxAge)
	for {
		changed, late, err := m.ensure(of, moment)
		switch {
		case err != nil:
			return err
		case late == nil:
			return nil
		case late.Verdict == ControlPlaneStalled, late.Verdict == Blind:
			return &NotFreshError{Status: *late, MaxAge: maxAge}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &NotFreshError{Status: *late, MaxAge: maxAge, Cause: context.Cause(ctx)}
		}
	}
}

// ensure looks whether all informers of a kind are proven for a moment. If not, it
// asks for that, and returns the one that is latest, and a channel that is closed
// when something has changed.
func (m *Monitor) ensure(of Informer, moment time.Time) (<-chan struct{}, *Status, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := false
	var late *Status
	now := m.clock.Now()
	for _, t := range m.informers {
		if !of.covers(t.name()) || t.informer.IsStopped() {
			continue
		}
		found = true
		if !t.state.freshAsOf.Before(moment) {
			continue
		}
		t.state.want(moment)
		t.rests = time.Time{}
		st := t.status(now)
		if !m.started {
			st.Reason = notStarted
		}
		if late == nil || st.FreshAsOf.Before(late.FreshAsOf) {
			late = &st
		}
	}
	if !found {
		return nil, nil, fmt.Errorf("%w: %q (monitored: %s)", ErrNotMonitored, of.String(), m.names())
	}
	return m.changed, late, nil
}

// StatusOf returns the status of a kind: of all informers that match (see
// EnsureFresh), the worst verdict and the oldest proof. It tells whether there is
// one, and does no I/O.
func (m *Monitor) StatusOf(of Informer) (st Status, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	for _, t := range m.informers {
		if !of.covers(t.name()) || t.informer.IsStopped() {
			continue
		}
		s := t.status(now)
		if !m.started {
			s.Reason = notStarted
		}
		if found {
			s = worse(st, s)
		}
		st, found = s, true
	}
	return st, found
}

// names lists what is monitored. The caller holds the lock.
func (m *Monitor) names() string {
	var out []string
	for _, t := range m.informers {
		out = append(out, t.name().String())
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// covers tells whether what i asks for is, in part, what an informer of that name
// holds.
func (i Informer) covers(name Informer) bool {
	return i.Group == name.Group && i.Resource == name.Resource &&
		(i.Version == "" || i.Version == name.Version) &&
		(i.Namespace == "" || name.Namespace == "" || i.Namespace == name.Namespace)
}

// StatusOfInformer returns the status of one informer, however many others there are of
// its kind, and tells whether this monitor has made it and it runs. It does no I/O.
func (m *Monitor) StatusOfInformer(inf EventSource) (st Status, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.informers {
		if t.is(inf) && !t.informer.IsStopped() {
			st = t.status(m.clock.Now())
			if !m.started {
				st.Reason = notStarted
			}
			return st, true
		}
	}
	return Status{}, false
}

// Wrote tells the monitor of a write of this process's own: the object has
// resourceVersion rv since. Where an informer holds an older version of it, its
// stream owes the event, and is suspected when that has not come within 5 s: a
// stall of a kind that the program writes is found that soon, without a request.
//
// key is namespace/name, or the name alone. Call it after successful creations,
// updates, patches and applies, of subresources too, but not after deletions. What
// the informer does not hold (its selector may exclude it), and a write that
// changed nothing, owe nothing.
func (m *Monitor) Wrote(of Informer, key, rv string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	for _, t := range m.informers {
		if of.covers(t.name()) && t.holdsOlder(key, rv) {
			t.state.owe(now, rv, func() bool { return t.holdsOlder(key, rv) })
			t.rests = time.Time{}
		}
	}
}
