// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/reconcile"
)

// Reconciles returns what a flight recorder and Events ask for the reconciles that run; nil
// where d is.
func Reconciles(d *reconcile.Deadlines) func() []flightrecorder.Reconcile {
	if d == nil {
		return nil
	}
	return func() []flightrecorder.Reconcile {
		var out []flightrecorder.Reconcile
		for _, r := range d.InFlight() {
			out = append(out, flightrecorder.Reconcile{Controller: r.Controller, Request: r.Request, Age: r.Age.Seconds(), Stage: r.Stage.String()})
		}
		return out
	}
}
