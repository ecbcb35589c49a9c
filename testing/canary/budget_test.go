// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// The watch dies again after every start. After three restarts that have not helped
// there is no fourth, and somebody is asked to look.
func TestRestartsThatDoNotHelp(t *testing.T) {
	realplane.Test(t)
	d := newDeployment(t, sharedPlane.Get(t))
	p := d.startPod(t, "hopeless", podOptions{})
	begin := time.Now()
	var after []float64
	for n := 0; ; n++ {
		p.awaitFresh(t)
		if got := p.now().reading(); got.Restarts != n || got.Exhausted {
			t.Errorf("at start %d it says %+v", n+1, got)
		}
		d.silence(t, "leases")
		if n == watchcanary.DefaultRestarts {
			break
		}
		await(t, failAfter+interval+failuresMost*probePeriod+2*slack, "restarted", func() bool { return len(p.restarted(livenessFailed)) > n }, p)
		after = append(after, time.Since(begin).Round(100*time.Millisecond).Seconds())
	}
	await(t, failAfter+interval+slack, "exhausted", func() bool { return p.now().reading().Exhausted }, p)
	exhausted := time.Since(begin)
	if got := p.metric(t, "freshwatch_canary_restart_budget_exhausted"); got != 1 {
		t.Errorf("the metric of an exhausted budget is %v", got)
	}
	last := p.now()
	holds(t, 3*failAfter, "alive, stalled and exhausted", func() bool {
		r := last.reading()
		return r.State == "Stalled" && r.Exhausted && r.Liveness == "" && !last.HasEnded()
	}, p)

	d.tcp.Reset() // a dead stream ends with its connection at last
	fresh := p.awaitFresh(t)
	await(t, slack, "nothing to look at", func() bool { return !p.now().reading().Exhausted }, p)
	if got := p.metric(t, "freshwatch_canary_restart_budget_exhausted"); got != 0 {
		t.Errorf("the metric of an exhausted budget is %v after the fault", got)
	}
	holds(t, 2*interval, "fresh", func() bool { return p.is("Fresh")() && p.now() == last }, p)
	if n := len(p.restarted(livenessFailed)); n != watchcanary.DefaultRestarts || len(p.restarted(processEnded)) > 0 {
		t.Errorf("%d restarts, want %d:\n%s", n, watchcanary.DefaultRestarts, p.tell())
	}
	p.wantReady(t)
	figures(t, map[string]any{"restartsAfter": after, "exhaustedAfter": exhausted, "freshAfterFault": fresh})
}
