// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"fmt"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// overall says of a snapshot what is wrong, or that nothing is: the worst incident that
// goes on, a reconcile that does not return, a canary whose writes do not come back. The
// headline is the same sentence without what changes while time passes.
func overall(s Snapshot) (headline, diagnosis string, healthy bool) {
	if worst := worstOpen(s.Incidents); worst != nil {
		return worst.Diagnosis, worst.Diagnosis, false
	}
	for _, rec := range s.Reconciles {
		if rec.Wedged() {
			const lost = "that its context has ended, so a worker is lost: its stack is in the log."
			return fmt.Sprintf("A reconcile of controller %q ignores %s", rec.Controller, lost),
				fmt.Sprintf("A reconcile of controller %q has been running for %.0fs and ignores %s", rec.Controller, rec.Age, lost), false
		}
	}
	if c := s.Canary; c != nil && c.State != watchcanary.Fresh.String() && c.State != watchcanary.Standby.String() && c.State != watchcanary.Pending.String() {
		return fmt.Sprintf("The canary is %s.", c.State), fmt.Sprintf("The canary is %s: %s.", c.State, c.Reason), false
	}
	syncing, doubted := 0, 0
	for _, i := range s.Informers {
		switch i.Verdict {
		case freshness.Syncing:
			syncing++
		case freshness.Fresh:
		default:
			doubted++
		}
	}
	same := func(sentence string) (string, string, bool) { return sentence, sentence, true }
	switch {
	case len(s.Informers) == 0:
		return same("No informer is known: none was made through the monitor, or nothing has happened yet.")
	case doubted > 0:
		return same(fmt.Sprintf("Of %d informers, a proof is overdue for %d, and it is not known yet why.", len(s.Informers), doubted))
	case syncing > 0:
		return same(fmt.Sprintf("%d of %d informers have not synced, or not been proven fresh yet.", syncing, len(s.Informers)))
	case len(s.Informers) == 1:
		return "The one informer is fresh.", "The one informer is fresh" + lastly(s), true
	}
	all := fmt.Sprintf("All %d informers are fresh", len(s.Informers))
	return all + ".", all + lastly(s), true
}

// worstOpen returns the worst incident that goes on; nil: none does.
func worstOpen(all []Incident) *Incident {
	var worst *Incident
	for k := range all {
		i := &all[k]
		if i.Open() && (worst == nil || rank(*i) > rank(*worst)) {
			worst = i
		}
	}
	return worst
}

// lastly says what the last incident was.
func lastly(s Snapshot) string {
	if len(s.Incidents) == 0 {
		return "."
	}
	i := s.Incidents[0]
	return fmt.Sprintf("; last, %s ago: %s", took(s.Time.Sub(i.Ended)), i.Diagnosis)
}

// rank orders incidents by how much somebody should care: a handler that blocks is no
// verdict, but as bad as one.
func rank(i Incident) int {
	if i.Evidence.Behind == freshness.LevelHandlers {
		return severity(freshness.Stalled)
	}
	return severity(i.Verdict)
}

func canaryOf(st watchcanary.Status) *Canary {
	c := &Canary{
		State: st.State.String(), Reason: st.Reason, Since: st.Since, Unseen: st.Unseen.Seconds(),
		Restarts: st.Restarts, Exhausted: st.Exhausted, Missing: st.Missing, Trips: []RoundTrip{},
	}
	for _, t := range st.RoundTrips {
		c.Trips = append(c.Trips, RoundTrip{At: t.At, Seconds: t.Took.Seconds()})
	}
	return c
}
