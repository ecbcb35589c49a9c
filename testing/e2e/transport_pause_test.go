// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// TestTransportGivesStreamsTheirTimeAfterPause stops a process for three times its
// IdleTimeout. One of its streams is dead, and another lives. All deadlines have
// passed when it goes on, and neither stream is ended before it had its time.
func TestTransportGivesStreamsTheirTimeAfterPause(t *testing.T) {
	realServerTest(t)
	const (
		idle  = 20 * time.Second
		pause = 3 * idle
	)
	other := kind{name: "Secret"}
	tw := newTwins(t, transport.Options{}) // of which the configs are used, by another process
	tw.plane.put(t, other.object(tw.ns, "other", before), other)
	touch := func(color string) {
		if err := tw.plane.update(t.Context(), other, tw.ns, "other", color); err != nil {
			t.Fatal(err)
		}
	}
	h := startHelper(t, tw.stock.config, job{
		Kind: tw.kind.name, Namespace: tw.ns, Object: edited, Twins: &twinsJob{IdleTimeout: idle, Other: other.name},
	})
	live := faultproxy.Match{Verb: "watch", Resource: other.resource(), Namespace: tw.ns}
	if !poll.Until(t.Context(), patience, func() bool {
		return h.twinSees(twinAgent, before) && h.twinSees(stockAgent, before) &&
			len(tw.wrapped.requests("watch")) == 1 && len(tw.stock.requests("watch")) == 1 && len(tw.api.Requests(live)) == 1
	}) {
		t.Fatalf("the process has no informers: %q", h.failures())
	}
	silent := tw.api.Inject(tw.match("watch"), faultproxy.Silence{OnlyOpen: true})
	tw.edit(t, after)
	if silent.Hits() != 2 {
		t.Errorf("silenced %d streams, want 2", silent.Hits())
	}

	h.signal(t, syscall.SIGSTOP)
	stopped := time.Now()
	for i := 0; time.Since(stopped) < pause; i++ {
		touch(fmt.Sprint(i))
		sleepUntil(t.Context(), time.Now().Add(5*time.Second))
	}
	if told := h.told(); told[len(told)-1].At.After(stopped.Add(time.Second)) {
		t.Errorf("the process was not stopped: it told %+v", told[len(told)-1])
	}
	continued := time.Now()
	had := stopped.Sub(tw.wrapped.requests("watch")[0].Start) // so long it has waited already, at most
	h.signal(t, syscall.SIGCONT)
	seen := poll.Until(t.Context(), idle+late, func() bool {
		touch(time.Now().String())
		_, ended := h.ended()
		return h.twinSees(twinAgent, after) && ended != nil
	})
	if !seen {
		t.Errorf("the edit is not seen %v after the pause", time.Since(continued))
	}

	ended, reasons := h.ended()
	if diff := cmp.Diff(map[string]float64{"idle": 1}, reasons); diff != "" {
		t.Errorf("watches have ended (-want +got):\n%s", diff)
	}
	if early := continued.Add(idle - had - 2*time.Second); ended.Before(early) {
		t.Errorf("the dead stream was ended %v after the pause, want no less than %v", ended.Sub(continued), early.Sub(continued))
	}
	if r := tw.api.Requests(live); len(r) != 1 || !r[0].Open {
		t.Errorf("the stream that lives was ended:\n%v", requestList(r))
	}
	if h.twinSees(stockAgent, after) {
		t.Error("the stock informer has seen the edit: there was no fault")
	}
	tw.checkResumed(t, stopped)
	results.figures(t, map[string]float64{"pause_s": seconds(continued.Sub(stopped)), "waited_before_s": seconds(had), "ended_after_s": seconds(ended.Sub(continued))})
}

// twinSees tells whether a twin in the helper process has seen the object in a
// color.
func (h *helper) twinSees(agent, color string) bool {
	for _, r := range h.told() {
		if r.Twins != nil && r.Twins.Agent == agent && r.Twins.Sees == color {
			return true
		}
	}
	return false
}

// ended returns the numbers of watches that have ended in the helper process, by
// reason, and when it told of the first.
func (h *helper) ended() (first time.Time, reasons map[string]float64) {
	for _, r := range h.told() {
		if r.Twins == nil || r.Twins.Ended == nil {
			continue
		}
		if first.IsZero() {
			first = r.At
		}
		reasons = r.Twins.Ended
	}
	return first, reasons
}
