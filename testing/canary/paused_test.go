// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package canary

import (
	"syscall"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// A leader that is stopped for so long that another one leads, and that then runs on as
// if nothing had been: for a moment there are two. The Lease is the new one's.
func TestLeaderThatWasStopped(t *testing.T) {
	realplane.Test(t)
	d := newDeployment(t, sharedPlane.Get(t))
	a := d.startPod(t, "a", podOptions{withoutProbes: true, backOff: time.Minute})
	a.awaitFresh(t)
	b := d.startPod(t, "b", podOptions{})
	await(t, patience, "b stands by", b.is("Standby"), a, b)

	old := a.now()
	send(t, old, syscall.SIGSTOP)
	t.Cleanup(func() { _ = old.Signal(syscall.SIGCONT) })
	took := b.awaitFresh(t)
	holds(t, 2*interval, "b leads", b.is("Fresh"), a, b)
	resumed := time.Now()
	send(t, old, syscall.SIGCONT)
	await(t, patience, "the deposed leader ends", old.HasEnded, a, b)
	ended := time.Since(resumed)
	holds(t, 2*interval, "b leads", b.is("Fresh"), a, b)

	d.wantRuns(t, "a-1", "b-1")
	b.wantAlive(t)
	if _, why := old.unalive(); why != "" {
		t.Errorf("liveness of the deposed leader failed: %s", why)
	}
	attempts := map[int]int{}
	for _, r := range d.api.Requests(faultproxy.Match{Verb: "update", Resource: "leases", Name: watchcanary.DefaultName}) {
		if r.UserAgent == old.Name && r.Start.After(resumed) {
			attempts[r.Status]++
		}
	}
	figures(t, map[string]any{"freshAfterStop": took, "deposedEndedAfter": ended, "deposedAttemptsByStatus": attempts, "deposedStates": old.states()})
}

func send(t *testing.T, p *process, s syscall.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatal(err)
	}
}
