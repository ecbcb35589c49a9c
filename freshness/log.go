// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "github.com/go-logr/logr"

// logEvent writes one line for each change of verdict and each cure, and
// nothing for what happens every minute.
func logEvent(log logr.Logger, e Event) {
	log = log.WithValues("informer", e.Informer.String())
	switch e.Type {
	case VerdictChanged:
		if e.Previous == Syncing && e.Verdict == Fresh {
			log.V(1).Info("Informer is proven fresh")
			return
		}
		log.Info("Informer freshness changed", "verdict", e.Verdict.String(), "previous", e.Previous.String(), "reason", e.Reason)
	case CureStarted:
		log.Info("Curing informer", "cure", e.Cure.String())
	case CureProven:
		log.Info("Cure worked", "cure", e.Cure.String())
	case CureFailed:
		log.Info("Cure did not help", "cure", e.Cure.String())
	case AuditFailed:
		log.Info("Informer audit failed", "reason", e.Reason)
	case LevelChanged:
		log.Info("Informer lags", "behind", e.Behind.String(), "reason", e.Reason)
	case Audited:
		log.V(1).Info("Informer audited", "objects", e.Objects, "diverged", len(e.Diverged))
	case Read, Proven, ReadFailed, ServerAsked, WatchBegan:
		log.V(4).Info("Informer proof", "event", e.Type.String(), "resourceVersion", e.ResourceVersion)
	}
}
