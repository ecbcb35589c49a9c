// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// Every watch of a process dies in silence. The guarded one says so by its liveness,
// and its restart cures it; the one without a canary is blind for good.
func TestSilencedWatches(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	on, off := newDeployment(t, p), newDeployment(t, p)
	guarded := on.startPod(t, "guarded", podOptions{})
	blind := off.startPod(t, "unguarded", podOptions{withoutCanary: true})
	guarded.awaitFresh(t)
	await(t, patience, "the first edit is seen", func() bool { return guarded.sees("first")() && blind.sees("first")() }, guarded, blind)

	first, begin := guarded.now(), time.Now()
	on.silence(t, "leases", "configmaps")
	off.silence(t, "configmaps")
	on.edit(t, "second")
	off.edit(t, "second")

	await(t, failAfter+interval+slack, "liveness fails", func() bool { _, why := first.unalive(); return why != "" }, guarded)
	at, why := first.unalive()
	failed := at.Sub(begin)
	if failed < failAfter {
		t.Errorf("liveness failed after %v already, want at least %v", failed, failAfter)
	}
	if first.sees() != "first" {
		t.Errorf("the process sees %q: there was no fault", first.sees())
	}
	await(t, patience, "a restart that cures", guarded.sees("second"), guarded)
	needed := time.Since(begin)
	on.edit(t, "third")
	await(t, slack, "edits are seen again", guarded.sees("third"), guarded)
	guarded.awaitFresh(t)

	holds(t, time.Until(begin.Add(3*needed)), "the one without a canary is blind", blind.sees("first"), blind)
	blind.wantAlive(t)
	guarded.wantReady(t)
	if n := len(guarded.restarted(livenessFailed)); n != 1 || len(guarded.restarted(processEnded)) != 0 {
		t.Errorf("%d restarts for liveness, want 1:\n%s", n, guarded.tell())
	}
	guarded.now().wantOnly(t, "Standby", "Pending", "Fresh")
	figures(t, map[string]any{
		"livenessFailedAfter": failed, "restartedAfter": guarded.restarted(livenessFailed)[0].at.Sub(begin),
		"seesAgainAfter": needed, "unguardedBlindFor": time.Since(begin), "liveness": why,
	})
}
