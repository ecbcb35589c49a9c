// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// AuditOptions says how often contents are compared. The zero value is ready for
// use.
type AuditOptions struct {
	// Every is how long after one audit of an informer the next begins, give or take
	// a quarter; the first comes after half of it to all of it. One costs a list of the
	// kind in pages of 500, without the objects' contents where Options.Metadata is set.
	//
	// Defaults to 1h. At least 1m.
	Every time.Duration

	// Disabled makes no audits, not on suspicion either. Monitor.Audit still does.
	Disabled bool
}

// DefaultAuditEvery costs a kind's readers no more than one relist an hour.
const DefaultAuditEvery = time.Hour

// ErrAudit is matched by the error of Audit where a comparison failed.
var ErrAudit = errors.New("freshness: the audit failed")

// AuditReport is what a comparison of contents has shown.
type AuditReport struct {
	// Informer is what was asked for.
	Informer Informer
	// Objects is how many were compared.
	Objects int
	// Diverged names those of which the cache has not what the API server has, as
	// namespace/name, sorted. They are relisted unless that is disabled.
	Diverged []string
}

// Audit compares the contents of a kind's cache with the API server's now, and
// again where they differ, and waits for the result: a proof, some 5 s, and a list of
// the kind. of names the kind as for EnsureFresh; several informers are added up.
//
// The error matches ErrNotFresh where the cache could not be proven first,
// ErrAudit where the comparison failed, and ErrNotMonitored where there is no such
// informer.
func (m *Monitor) Audit(ctx context.Context, of Informer) (AuditReport, error) {
	began := m.clock.Now()
	m.mu.Lock()
	audited := 0
	for _, t := range m.informers {
		if of.covers(t.name()) && !t.informer.IsStopped() {
			t.state.auditSoon(began)
			t.rests = time.Time{}
			audited++
		}
	}
	m.mu.Unlock()
	if audited == 0 {
		return AuditReport{}, m.EnsureFresh(ctx, of, 0)
	}
	for {
		report, changed, err := m.audited(of, began)
		if changed == nil {
			return report, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			st, _ := m.StatusOf(of)
			return report, fmt.Errorf("%w: %w", ErrAudit, &NotFreshError{Status: st, Cause: context.Cause(ctx)})
		}
	}
}

// audited gathers the results of audits since began, or returns a channel to wait
// on.
func (m *Monitor) audited(of Informer, began time.Time) (AuditReport, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	report := AuditReport{Informer: of}
	now := m.clock.Now()
	for _, t := range m.informers {
		if !of.covers(t.name()) || t.informer.IsStopped() {
			continue
		}
		a := &t.state.audits
		v := t.state.verdict(now)
		switch {
		case a.failed.After(began):
			return report, nil, fmt.Errorf("%w: %v: %w", ErrAudit, t.name(), a.err)
		case !a.at.Before(began):
		case v == ControlPlaneStalled, v == Blind && (t.state.down != readOK || t.state.misled):
			return report, nil, &NotFreshError{Status: t.status(now)}
		default:
			return report, m.changed, nil
		}
		report.Objects += a.compared
		report.Diverged = append(report.Diverged, a.diverged.names()...)
	}
	return report, nil, nil
}
