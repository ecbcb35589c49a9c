// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"strings"
	"time"
)

// say logs what has become of the gate. The caller holds the lock.
func (g *gate) say(before hold, now time.Time) {
	switch {
	case before.since.IsZero() && !g.hold.since.IsZero():
		g.opts.Logger.Info("Reconciles are held: what they read is stale", "kinds", g.closedBy())
	case !before.since.IsZero() && g.hold.since.IsZero():
		g.opts.Logger.Info("Reconciles go on", "held", now.Sub(before.since).Round(time.Second).String())
	case g.hold.over && !before.over:
		g.opts.Logger.Info("Reconciles go on though what they read is stale: held for as long as allowed", "maxHold", g.opts.MaxHold.String(), "kinds", g.closedBy())
	}
}

// closedBy names the kinds that close the gate, and why.
func (g *gate) closedBy() string {
	var out []string
	for i := range g.kinds {
		if k := &g.kinds[i]; k.closes() {
			out = append(out, k.of.String()+": "+k.reason)
		}
	}
	return strings.Join(out, "; ")
}

// sayIfUnmonitored tells, once, that a kind is not guarded.
func (g *gate) sayIfUnmonitored(k *kind, now time.Time) {
	switch {
	case k.monitored:
		k.missing = now // the informer may be removed one day
	case !k.missing.IsZero() && now.Sub(k.missing) >= unmonitoredGrace:
		k.missing = time.Time{}
		g.opts.Logger.Info("No informer of this kind is monitored, so the gate cannot tell when it is stale", "kind", k.of.String(), "closed", k.stale)
	}
}
