// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// What is to be seen of the twins.

func (t *twins) note(e freshness.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, newEvent(e))
}

// watchOver does what a kubelet does, and writes down what the guard says.
func (t *twins) watchOver(ctx context.Context) {
	poll.Until(ctx, 24*time.Hour, func() bool {
		err, status := t.monitor.Check(nil), t.monitor.Status()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.unhealthy == "" && err != nil {
			t.unhealthy = err.Error()
		}
		for _, s := range status {
			switch {
			case s.Behind != freshness.LevelNone:
				t.hear(reason{At: time.Now(), Verdict: int(s.Verdict), Text: s.Behind.String() + ": " + s.Reason})
			case s.Verdict != freshness.Fresh:
				t.hear(reason{At: time.Now(), Verdict: int(s.Verdict), Text: s.Reason})
			}
		}
		return false
	})
}

// hear notes what was not said a moment ago. The caller holds the lock.
func (t *twins) hear(r reason) {
	const most = 200
	if n := len(t.reasons); n < most && (n == 0 || t.reasons[n-1].Text != r.Text) {
		t.reasons = append(t.reasons, r)
	}
}

// snapshot implements cast.
func (t *twins) snapshot() snapshot {
	status := t.monitor.Status()
	t.mu.Lock()
	defer t.mu.Unlock()
	s := snapshot{
		Guarded: t.color(t.guarded[0]), Stock: t.color(t.stock), Synced: t.stock.HasSynced(),
		Ends: t.ends(), Handled: t.handler.handled.Load(),
		Events: slices.Clone(t.events), Reasons: slices.Clone(t.reasons), Unhealthy: t.unhealthy,
	}
	for _, inf := range t.guarded {
		s.Synced = s.Synced && inf.HasSynced()
	}
	for _, st := range status {
		s.Informers = append(s.Informers, informerState{
			Name: st.Informer.String(), Verdict: int(st.Verdict), FreshAsOf: st.FreshAsOf,
			Proofs: st.Proofs, Doubts: st.Doubts, Renewals: st.Renewals,
		})
	}
	return s
}

// color is that of the edited object in an informer's cache.
func (t *twins) color(inf cache.SharedIndexInformer) string {
	obj, ok, err := inf.GetStore().GetByKey(t.job.Namespaces[0] + "/" + edited)
	if err != nil || !ok {
		return ""
	}
	return colorOf(obj)
}

// ends reads off the transport's metrics why lists and watches ended.
func (t *twins) ends() map[string]float64 {
	families, err := t.metrics.Gather()
	if err != nil {
		return nil
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "freshwatch_transport_streams_ended_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "reason" && m.GetCounter().GetValue() > 0 {
					out[l.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
	}
	return out
}
