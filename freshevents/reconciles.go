// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

// reconcileWatch makes notes of reconciles that have become wedged, and of budgets that
// are spent. It remembers those that are.
type reconcileWatch struct {
	wedged map[[2]string]bool
	spent  map[string]bool
}

// reconciles takes those that run. Which object is reconciled is not told.
func (w *reconcileWatch) reconciles(all []flightrecorder.Reconcile, now time.Time, p *pending) {
	wedged := map[[2]string]bool{}
	for _, r := range all {
		key := [2]string{r.Controller, r.Request}
		if !r.Wedged() {
			continue
		}
		wedged[key] = true
		if w.wedged[key] {
			continue
		}
		age := duration.HumanDuration(time.Duration(r.Age * float64(time.Second)))
		p.add(now, newNote(ReconcileWedged, now, r.Controller, fmt.Sprintf(
			"A reconcile of controller %q has been running for %s and ignores that its context has ended, so a worker is lost: its stack is in the log.", r.Controller, age)))
	}
	w.wedged = wedged
}

// budgets takes those that are spent.
func (w *reconcileWatch) budgets(all []string, now time.Time, p *pending) {
	spent := map[string]bool{}
	for _, b := range all {
		spent[b] = true
		if !w.spent[b] {
			p.add(now, newNote(RestartBudgetSpent, now, "", fmt.Sprintf("No more restarts are asked for, since those before have not helped: look for the cause. The budget: %s.", b)))
		}
	}
	w.spent = spent
}
