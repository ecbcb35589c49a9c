// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// Two replicas, and only the one that leads writes: audited where the writes arrive,
// over a crash of the leader and an orderly hand-over.
func TestOnlyTheLeaderWrites(t *testing.T) {
	realplane.Test(t)
	d := newDeployment(t, sharedPlane.Get(t))
	// Away for long enough that it is b's turn.
	a := d.startPod(t, "a", podOptions{backOff: 10 * time.Second})
	a.awaitFresh(t)
	b := d.startPod(t, "b", podOptions{backOff: 10 * time.Second})
	holds(t, 2*interval, "b stands by", func() bool { return b.is("Standby")() && !b.now().leads() }, a, b)

	crash := time.Now()
	a.now().Kill()
	took := b.awaitFresh(t)
	await(t, patience, "a stands by", func() bool { return a.now().Name == "a-2" && a.is("Standby")() }, a, b)
	holds(t, 2*interval, "b leads", func() bool { return b.is("Fresh")() && a.is("Standby")() }, a, b)

	release := time.Now()
	go b.now().Terminate() // releases its leadership
	a.awaitFresh(t)
	released := time.Since(release)
	holds(t, 2*interval, "a leads", a.is("Fresh"), a, b)

	writes := d.wantRuns(t, "a-1", "b-1", "a-2")
	count, gap := map[string]int{}, time.Duration(0)
	for i, w := range writes {
		count[w.UserAgent]++
		if i > 0 {
			gap = max(gap, w.Start.Sub(writes[i-1].Start))
		}
	}
	for _, p := range []*pod{a, b} {
		p.wantReady(t)
		if n := len(p.restarted(livenessFailed)); n > 0 {
			t.Errorf("%d restarts of %s for liveness:\n%s", n, p.name, p.tell())
		}
	}
	figures(t, map[string]any{
		"writes": count, "longestGap": gap, "freshAfterCrash": took, "freshAfterRelease": released, "audited": time.Since(crash),
	})
}

// wantRuns fails unless the canary's Lease was written by these processes, one after the
// other and each of them only once it led, and returns the writes.
func (d *deployment) wantRuns(t *testing.T, want ...string) []faultproxy.Request {
	t.Helper()
	writes := d.canaryWrites()
	var runs []string
	for _, w := range writes {
		if len(runs) == 0 || runs[len(runs)-1] != w.UserAgent {
			runs = append(runs, w.UserAgent)
			d.wantLed(t, w)
		}
	}
	if diff := cmp.Diff(want, runs); diff != "" {
		t.Errorf("runs of writes by one process (-want +got):\n%s", diff)
	}
	return writes
}

// wantLed fails unless whoever has written had the election's Lease before.
func (d *deployment) wantLed(t *testing.T, w faultproxy.Request) {
	t.Helper()
	won := d.api.Requests(faultproxy.Match{Verb: "update", Resource: "leases", Name: election, UserAgent: w.UserAgent + electionSuffix})
	if !slices.ContainsFunc(won, func(e faultproxy.Request) bool {
		return e.Status < 300 && !e.Open && e.Start.Add(e.Duration).Before(w.Start)
	}) {
		t.Errorf("%s has written at %v, and has not won the election before", w.UserAgent, w.Start.Format(time.TimeOnly))
	}
}
