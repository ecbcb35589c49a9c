// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// TestPausedProcessIsNoStall stops a process for three minutes. All its deadlines
// have passed when it goes on, and what was sent meanwhile waits in the kernel.
func TestPausedProcessIsNoStall(t *testing.T) {
	realServerTest(t)
	const pause = 3 * time.Minute
	k := custom("Paused")
	b := newServer(t, sharedPlane.Get(t), k, t.Name())
	b.put(t, edited, before)
	h := startHelper(t, b.config(guardedAgent), job{
		Agent: guardedAgent, Group: k.group, Kind: k.name, Namespace: b.ns, Object: edited,
		FailAfter: freshness.DefaultMaxStaleness,
	})
	if !poll.Until(t.Context(), patience, func() bool {
		h := h.history()
		return h.verdict() == freshness.Fresh && h.count(freshness.Proven) >= 2
	}) {
		t.Fatalf("not proven fresh within %v:\n%v%q", patience, h.history(), h.failures())
	}

	h.signal(t, syscall.SIGSTOP)
	stopped := time.Now()
	for _, color := range []string{"grey", "gold", after} {
		b.put(t, edited, color)
	}
	poll.Until(t.Context(), pause, func() bool { return false })
	if told := h.told(); told[len(told)-1].At.After(stopped.Add(time.Second)) {
		t.Errorf("the process was not stopped: it told %+v", told[len(told)-1])
	}
	continued := time.Now()
	h.signal(t, syscall.SIGCONT)

	healthy := poll.Until(t.Context(), recovery, func() bool {
		_, seen := h.seen(after)
		all := h.history()
		return seen && all.verdict() == freshness.Fresh && all.freshAsOf().After(continued)
	})
	if !healthy {
		t.Errorf("not fresh, with the edits, within %v", recovery)
	}
	checkPaused(t, h, continued)
}

func checkPaused(t *testing.T, h *helper, continued time.Time) {
	t.Helper()
	all := h.history()
	seen, _ := h.seen(after)
	t.Logf("verdicts %v", all.verdicts())
	results.figures(t, map[string]float64{
		"edits_seen_s": seconds(seen.Sub(continued)),
		"fresh_s":      seconds(all[len(all)-1].Time.Sub(continued)),
		"cures":        float64(len(all.since(continued).cures(freshness.CureStarted))),
	})
	for _, v := range all.verdicts() {
		if slices.Contains([]freshness.Verdict{freshness.Stalled, freshness.ControlPlaneStalled, freshness.Blind, freshness.Unreachable}, v) {
			t.Errorf("verdict %v because of a pause:\n%v", v, all)
		}
	}
	if cures := all.since(continued).cures(freshness.CureStarted); len(cures) > 1 || len(cures) == 1 && cures[0] != freshness.Resume {
		t.Errorf("cures %v, want at most one resume:\n%v", cures, all)
	}
	if f := h.failures(); len(f) > 0 {
		t.Errorf("failures %q:\n%v", f, all)
	}
}
