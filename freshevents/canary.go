// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/freshwatch/freshwatch/watchcanary"
)

// canaryWatch makes notes of what a canary says.
type canaryWatch struct {
	told  watchcanary.State // the last that was worth a note; Fresh or less: it is over
	since time.Time
	spent bool
}

// look compares what the canary says with what it said before.
func (w *canaryWatch) look(st watchcanary.Status, now time.Time, p *pending) {
	if st.Exhausted && !w.spent {
		p.add(now, canaryNote(RestartBudgetSpent, now, st.Reason))
	}
	w.spent = st.Exhausted
	switch st.State {
	case watchcanary.Stalled, watchcanary.ControlPlaneStalled, watchcanary.Blind:
		if st.State != w.told {
			p.add(now, canaryNote(canaryReason(st.State), now, st.Reason))
			if w.told <= watchcanary.Fresh {
				w.since = now
			}
			w.told = st.State
		}
	case watchcanary.Fresh:
		// Blindness that is over before it could be told, as by an API server that was
		// away, is no news any more.
		if was := w.told; was > watchcanary.Fresh && (was != watchcanary.Blind || !p.withdraw(CanaryBlind)) {
			p.add(now, canaryNote(CanaryHealed, now, fmt.Sprintf("writes come back again, after %s", duration.HumanDuration(now.Sub(w.since)))))
		}
		w.told = watchcanary.Fresh
	case watchcanary.Standby, watchcanary.Pending:
		w.told = watchcanary.Fresh // this process does not know any more, or not yet
	}
}

func canaryNote(r Reason, now time.Time, text string) note {
	return newNote(r, now, "", "Watch canary: "+text+".")
}

func canaryReason(s watchcanary.State) Reason {
	switch s {
	case watchcanary.Stalled:
		return CanaryStalled
	case watchcanary.ControlPlaneStalled:
		return ControlPlaneStalled
	default:
		return CanaryBlind
	}
}
