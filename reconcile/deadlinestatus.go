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

func oldestFirst(a, b InFlight) int {
	return cmp.Or(-cmp.Compare(a.Age, b.Age), cmp.Compare(a.Controller, b.Controller), cmp.Compare(a.Request, b.Request))
}

func (w *watch[request]) snapshot() []InFlight {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.opts.Clock.Now()
	out := make([]InFlight, 0, len(w.running))
	for _, r := range w.running {
		out = append(out, InFlight{w.opts.Name, fmt.Sprint(r.request), now.Sub(r.began), r.progress.stage})
	}
	return out
}
