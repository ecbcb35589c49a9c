// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// sayIfUnwired tells, once, a caller who forgot to give NewInformer to the cache.
func (m *Monitor) sayIfUnwired(now time.Time) {
	switch {
	case m.unwired.IsZero():
	case len(m.informers) > 0:
		m.unwired = time.Time{}
	case now.After(m.unwired):
		m.unwired = time.Time{}
		m.log.Info("No informer is monitored: set cache.Options.NewInformer to this monitor's, or make informers with it")
	}
}

// misled notes, and tells, whether the informer has synced by other means than the
// ListerWatcher that it is tracked with.
func (t *tracked) misled() bool {
	t.state.misled = !t.lw.asked() && t.informer.HasSynced()
	return t.state.misled
}
