// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Reason is that of an Event, as kubectl shows it.
type Reason int

const (
	// RestartBudgetSpent: restarts have not helped, and no more are asked for: somebody has
	// to look.
	RestartBudgetSpent Reason = iota
	// CanaryStalled: a write of this process was acknowledged and has not come back.
	CanaryStalled
	// ControlPlaneStalled: the API server's own watch cache stands still.
	ControlPlaneStalled
	// InformerStalled: the API server has what an informer lacks.
	InformerStalled
	// ReconcileWedged: a reconcile does not return though its context has ended.
	ReconcileWedged
	// HandlerBlocked: an event handler does not return, though the cache is fresh.
	HandlerBlocked
	// InformerDiverged: an informer's stream moves, and events were lost.
	InformerDiverged
	// CanaryBlind: the canary's Lease cannot be written or watched, so that it says nothing.
	CanaryBlind
	// InformerBlind: an informer cannot be watched: a right or a kind is missing, or its
	// objects cannot be understood.
	InformerBlind
	// InformerHealed: one of the above is over for an informer, or a cure has worked before
	// anybody was told. A Normal event, as the next.
	InformerHealed
	// CanaryHealed: writes of this process come back again.
	CanaryHealed
)

var reasonNames = [...]string{
	"RestartBudgetSpent", "CanaryStalled", "ControlPlaneStalled", "InformerStalled", "ReconcileWedged", "HandlerBlocked",
	"InformerDiverged", "CanaryBlind", "InformerBlind", "InformerHealed", "CanaryHealed",
}

// String returns the reason as an Event has it.
func (r Reason) String() string {
	if r < 0 || int(r) >= len(reasonNames) {
		return fmt.Sprintf("Reason(%d)", int(r))
	}
	return reasonNames[r]
}

// kind is the Event's type.
func (r Reason) kind() string {
	if r == InformerHealed || r == CanaryHealed {
		return corev1.EventTypeNormal
	}
	return corev1.EventTypeWarning
}

// subjects is what the subjects of a note are called.
func (r Reason) subjects() string {
	if r == ReconcileWedged {
		return "controllers"
	}
	return "informers"
}
