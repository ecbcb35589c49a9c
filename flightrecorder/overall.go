// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"fmt"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// overall says of a snapshot what is wrong, or that nothing is: the worst incident that
// goes on, a reconcile that does not return, a canary whose writes do not come back.
func overall(s Snapshot) (diagnosis string, healthy bool) {
	var worst *Incident
	for k := range s.Incidents {
		i := &s.Incidents[k]
		if i.Open() && (worst == nil || rank(*i) > rank(*worst)) {
			worst = i
		}
	}
	if worst != nil {
		return worst.Diagnosis, false
	}
	for _, rec := range s.Reconciles {
		if rec.Wedged() {
			return fmt.Sprintf("A reconcile of controller %q has been running for %.0fs and ignores that its context has ended, so a worker is lost: its stack is in the log.", rec.Controller, rec.Age), false
		}
	}
	if c := s.Canary; c != nil && c.State != watchcanary.Fresh.String() && c.State != watchcanary.Standby.String() && c.State != watchcanary.Pending.String() {
		return fmt.Sprintf("The canary is %s: %s.", c.State, c.Reason), false
	}
	syncing := 0
	for _, i := range s.Informers {
		if i.Verdict == freshness.Syncing {
			syncing++
		}
	}
	switch {
	case len(s.Informers) == 0:
		return "No informer is known: none was made through the monitor, or nothing has happened yet.", true
	case syncing > 0:
		return fmt.Sprintf("%d of %d informers have not synced, or not been proven fresh yet.", syncing, len(s.Informers)), true
	case len(s.Informers) == 1:
		return "The one informer is fresh" + lastly(s), true
	}
	return fmt.Sprintf("All %d informers are fresh%s", len(s.Informers), lastly(s)), true
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
