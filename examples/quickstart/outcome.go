// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// outcome is what came of a demo, in times since the fault. The summary, the JSON
// and the exit status rest on it alone.
type outcome struct {
	fault  string
	waited time.Duration // from the fault to the end
	lifted time.Duration // when the fault was taken away; zero: it was not

	stock, guarded side

	// What the monitor said since the fault.
	detected time.Duration // the first sign that it knows; zero: none
	verdicts []freshness.Verdict
	cures    []cure
	spared   bool  // the Widgets' informer got no verdict and no cure
	fresh    bool  // every informer is Fresh now
	liveness error // the first failure of the probe
	quiet    quiet
}

// cure is one that was tried, and whether it worked.
type cure struct {
	rung   freshness.Rung
	at     time.Duration
	worked bool
}

func (c cure) String() string { return c.rung.String() }

// side is one operator.
type side struct {
	seen map[object]time.Duration // when it saw the edit; absent if it did not
	cost cost
}

func (s side) saw(o object) bool {
	_, ok := s.seen[o]
	return ok
}

// quiet is how well the Widgets' informer was proven fresh while nothing happened
// to it.
type quiet struct {
	proofs       int
	longestGap   time.Duration // between two proofs
	largestBound time.Duration // that the staleness bound ever reached
}

// outcome draws the conclusions.
func (r record) outcome(now time.Time) outcome {
	o := outcome{
		waited: now.Sub(r.faultAt), liveness: r.liveness, spared: true, fresh: true,
		stock: r.sideOf(stock), guarded: r.sideOf(guarded), quiet: r.quiet(now),
	}
	if !r.liftedAt.IsZero() {
		o.lifted = r.liftedAt.Sub(r.faultAt)
	}
	verdicts := map[freshness.Informer]freshness.Verdict{}
	for _, e := range r.events {
		if e.Type == freshness.VerdictChanged {
			verdicts[e.Informer] = e.Verdict
		}
		if e.Time.Before(r.faultAt) {
			continue
		}
		o.add(e, r.faultAt)
	}
	for _, v := range verdicts {
		o.fresh = o.fresh && v == freshness.Fresh
	}
	return o
}

// add takes one event since the fault into account.
func (o *outcome) add(e freshness.Event, faultAt time.Time) {
	bystander := e.Informer.Resource == gadget.resource()
	switch e.Type {
	case freshness.VerdictChanged:
		if !bystander {
			o.verdicts = append(o.verdicts, e.Verdict)
		}
	case freshness.CureStarted:
		o.cures = append(o.cures, cure{rung: e.Cure, at: e.Time.Sub(faultAt)})
	case freshness.CureProven:
		for i := range o.cures {
			o.cures[i].worked = o.cures[i].worked || o.cures[i].rung == e.Cure
		}
		return
	default:
		return
	}
	o.spared = o.spared && !bystander
	if o.detected == 0 && !bystander {
		o.detected = e.Time.Sub(faultAt)
	}
}

// until is how long an operator went without the edited ConfigMap.
func (o outcome) until(s side) time.Duration {
	if s.saw(settings) {
		return s.seen[settings]
	}
	return o.waited
}

func (r record) sideOf(who string) side {
	s := side{seen: map[object]time.Duration{}}
	for _, o := range []object{settings, gadget} {
		if at, ok := r.seen[sighting{who, o}]; ok && at.After(r.faultAt) {
			s.seen[o] = at.Sub(r.faultAt)
		}
	}
	return s
}

// quiet looks at the proofs of the Widgets' informer. The one before the fault is
// where the first gap begins; the last gap ends now.
func (r record) quiet(now time.Time) quiet {
	var q quiet
	var provenAt, freshAsOf time.Time
	look := func(at time.Time) {
		if !provenAt.IsZero() && at.After(r.faultAt) {
			q.longestGap = max(q.longestGap, at.Sub(provenAt))
			q.largestBound = max(q.largestBound, at.Sub(freshAsOf))
		}
	}
	for _, e := range r.events {
		if e.Type != freshness.Proven || e.Informer.Resource != gadget.resource() {
			continue
		}
		look(e.Time)
		provenAt, freshAsOf = e.Time, e.FreshAsOf
		if e.Time.After(r.faultAt) {
			q.proofs++
		}
	}
	look(now)
	return q
}
