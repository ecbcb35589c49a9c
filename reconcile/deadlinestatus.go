// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// InFlight is one reconcile that runs.
type InFlight struct {
	// Controller is DeadlineOptions.Name.
	Controller string
	// Request is the request as text: namespace/name for a reconcile.Request.
	Request string
	// Age is for how long it has been running.
	Age time.Duration
	// Stage is how far it has come in not returning.
	Stage Stage
}

// InFlight returns the reconciles that run, the oldest first.
func (d *Deadline[request]) InFlight() []InFlight {
	out := d.watch.snapshot()
	slices.SortFunc(out, oldestFirst)
	return out
}

// SpentBudgets returns, in words, the budget of restarts while a restart is wanted and it
// grants none any more; nothing otherwise. It is what package freshevents asks for.
func (d *Deadlines) SpentBudgets() []string {
	if _, exhausted := d.asker.state(); !exhausted {
		return nil
	}
	if words, ok := d.asker.budget.(fmt.Stringer); ok {
		return []string{words.String()}
	}
	return []string{"that of all controllers"}
}

func oldestFirst(a, b InFlight) int {
	return cmp.Or(-cmp.Compare(a.Age, b.Age), cmp.Compare(a.Controller, b.Controller), cmp.Compare(a.Request, b.Request))
}

func (w *watch[request]) snapshot() []InFlight {
	w.mu.Lock()
	now := w.opts.Clock.Now()
	out := make([]InFlight, len(w.running))
	requests := make([]request, len(w.running))
	for i, r := range w.running {
		out[i] = InFlight{Controller: w.opts.Name, Age: now.Sub(r.began), Stage: r.progress.stage}
		requests[i] = r.request
	}
	w.mu.Unlock()
	for i, req := range requests { // a String that blocks must not block the workers
		out[i].Request = fmt.Sprint(req)
	}
	return out
}
