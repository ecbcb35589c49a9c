// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import "time"

// calm is how long nothing may have come for initial events to be over, or the
// stream to have nothing to say: longer than a slow line hesitates in between.
const calm = 10 * time.Second

// limits are the deadlines of Options.
type limits struct {
	maxWatch, grace, header, idle, list time.Duration
}

func (o Options) limits() limits {
	return limits{maxWatch: o.MaxWatch, grace: o.Grace, header: o.HeaderTimeout, idle: o.IdleTimeout, list: o.ListTimeout}
}

// progress is how far a list or watch has come, as the sweep sees it.
type progress struct {
	kind     requestKind
	renew    time.Duration // after which a watch that begins with initial events is renewed; 0: it does not
	timeout  time.Duration // asked of the server
	began    time.Time     // the request was sent
	answered bool          // its headers came
	reading  bool          // somebody is waiting for its next byte
	quiet    time.Time     // since when nothing has come while somebody waited
}

// overdue tells whether a list or watch has to be ended, and why. It has no
// memory and takes no lock: this is the whole of the rules.
//
// Whoever reads slowly is not to blame the server for, so that nothing is ended
// that nobody is waiting for.
func (l limits) overdue(now time.Time, p progress) (EndReason, bool) {
	silence := now.Sub(p.quiet)
	switch {
	case p.kind == list:
		return EndedStalled, silence >= l.list && (p.reading || !p.answered)
	case !p.answered:
		return EndedHeaders, silence >= l.header
	case !p.reading:
		return EndedServer, false
	}
	age := now.Sub(p.began)
	switch {
	case age-p.timeout >= l.grace: // a sum could overflow
		return EndedAge, true
	case silence >= l.idle:
		return EndedIdle, true
	case p.renew > 0 && age >= p.renew && silence >= calm:
		return EndedRenewed, true
	}
	return EndedServer, false
}
