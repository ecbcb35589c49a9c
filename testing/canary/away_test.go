// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"os"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// away is how long the API server is.
func away() time.Duration {
	if os.Getenv("FRESHWATCH_SLOW") != "" {
		return 10 * time.Minute
	}
	return time.Minute
}

// Nobody can reach the API server. No restart helps against that, and none is asked
// for, neither meanwhile nor by the writes that come back late afterwards.
func TestServerAway(t *testing.T) {
	realplane.Test(t)
	d := newDeployment(t, sharedPlane.Get(t))
	// One that leads on, and sees it all.
	p := d.startPod(t, "patient", podOptions{renewDeadline: away() + 5*time.Minute})
	p.awaitFresh(t)
	await(t, patience, "the first edit is seen", p.sees("first"), p)

	begin := time.Now()
	accept := d.refuse(t)
	blind := await(t, 2*interval+slack, "blind", p.is("Blind"), p)
	holds(t, time.Until(begin.Add(away())), "blind", p.is("Blind"), p)
	reason := p.now().reading().Reason
	d.edit(t, "second")
	accept()
	back := time.Now()
	await(t, patience, "edits are seen again", p.sees("second"), p)
	edits := time.Since(back)
	fresh := p.awaitLasting(t, "Fresh").Sub(back)
	p.now().wantOnly(t, "Standby", "Pending", "Fresh", "Blind")
	p.wantAlive(t)
	figures(t, map[string]any{
		"awayFor": back.Sub(begin), "blindAfter": blind, "freshAfterReturn": fresh, "editsSeenAfterReturn": edits, "reason": reason,
		"states": p.now().states(),
	})
}

// One whose leadership ends meanwhile, as it usually does: its process ends, and those
// that follow are standbys until they can lead. Liveness has no part in it.
func TestServerAwayAndLeadershipLost(t *testing.T) {
	realplane.Test(t)
	d := newDeployment(t, sharedPlane.Get(t))
	p := d.startPod(t, "usual", podOptions{})
	p.awaitFresh(t)

	begin := time.Now()
	accept := d.refuse(t)
	await(t, patience, "the process ends with its leadership", func() bool { return len(p.restarted(processEnded)) > 0 }, p)
	ended := p.restarted(processEnded)[0].at.Sub(begin)
	holds(t, time.Until(begin.Add(away())), "standby", func() bool { return p.now().reading().State != "Fresh" }, p)
	d.edit(t, "second")
	accept()
	back := time.Now()
	p.awaitFresh(t)
	fresh := time.Since(back)
	await(t, patience, "edits are seen again", p.sees("second"), p)
	if n := len(p.restarted(livenessFailed)); n > 0 {
		t.Errorf("%d restarts for liveness:\n%s", n, p.tell())
	}
	for _, l := range p.all() {
		l.wantOnly(t, "Standby", "Pending", "Fresh", "Blind")
	}
	figures(t, map[string]any{
		"awayFor": back.Sub(begin), "leadershipEndedAfter": ended, "processes": len(p.all()), "freshAfterReturn": fresh,
	})
}
