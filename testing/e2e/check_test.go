// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// expectation is what has to come of a scenario.
type expectation struct {
	// reaches are verdicts in the order in which they have to come; others may come
	// between.
	reaches []freshness.Verdict
	// orBlind: Blind will do where ControlPlaneStalled has to come.
	orBlind bool
	// never are verdicts that would be wrong at any time.
	never []freshness.Verdict
	// must are the cures that have to be tried. may are those that can be, where the
	// fault is lifted only after that. Any other is one too many.
	must, may []freshness.Rung
	// edit says when the edit has to be seen.
	edit sight
	// stockBlind: without a guard the edit is not seen while the fault lasts. This
	// is what makes the fault one.
	stockBlind bool
	// mayRefill: the fault itself makes reflectors fetch everything again.
	mayRefill bool
	// unproven: the datastore leaves nothing to prove, with or without a fault.
	unproven bool
	// provenEvery, if set, is the longest time between two proofs.
	provenEvery time.Duration
}

// sight is when an edit has to be seen.
type sight int

const (
	anyTime    sight = iota // before the end
	inTime                  // as promised, though the fault lasts
	afterwards              // not before the fault is lifted, and then at last
)

// What a check may object to.
var (
	errVerdict  = errors.New("the verdict is wrong")
	errCure     = errors.New("the cure is wrong")
	errUnseen   = errors.New("the edit was not seen in time")
	errNotFresh = errors.New("the informer is not fresh in the end")
	errRefilled = errors.New("objects were sent again")
	errLiveness = errors.New("liveness failed")
	errContents = errors.New("the cache differs from the server")
	errRarely   = errors.New("proofs are too rare")
	errNoFault  = errors.New("there was no fault")
)

// check compares an outcome with what the scenario wants.
func (s scenario) check(o outcome) error {
	w := s.want
	if o.slow != "" {
		w = w.onSlowMachine()
	}
	return errors.Join(w.checkVerdicts(o), w.checkCures(o), w.checkSight(o), w.checkCost(o), w.checkEnd(o))
}

// onSlowMachine is the expectation where a proof may have missed the bookmark that
// it was timed for. Then the guard convicts nobody, but renews the watch to have
// its proof in time; and where it has not learned that there are bookmarks, it is
// Blind to what it would otherwise call a frozen server.
func (w expectation) onSlowMachine() expectation {
	w.may = append(slices.Clone(w.may), freshness.Resume)
	w.reaches = slices.DeleteFunc(slices.Clone(w.reaches), func(v freshness.Verdict) bool { return v == freshness.Stalled })
	if slices.Contains(w.reaches, freshness.ControlPlaneStalled) {
		w.orBlind = true
		w.never = slices.DeleteFunc(slices.Clone(w.never), func(v freshness.Verdict) bool { return v == freshness.Blind })
	}
	if w.provenEvery > 0 {
		w.provenEvery = max(w.provenEvery, promise)
	}
	return w
}

func (w expectation) checkVerdicts(o outcome) error {
	got := o.history.verdicts()
	for _, v := range got {
		if slices.Contains(w.never, v) {
			return fmt.Errorf("%w: %v on the way %v", errVerdict, v, got)
		}
	}
	left := w.reaches
	for _, v := range got {
		if len(left) > 0 && (v == left[0] || w.orBlind && left[0] == freshness.ControlPlaneStalled && v == freshness.Blind) {
			left = left[1:]
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: %v, which do not end with %v", errVerdict, got, w.reaches)
	}
	return nil
}

func (w expectation) checkCures(o outcome) error {
	tried := o.history.cures(freshness.CureStarted)
	for _, r := range w.must {
		if !slices.Contains(tried, r) {
			return fmt.Errorf("%w: tried %v, but not %v", errCure, tried, r)
		}
	}
	if o.lifted >= 0 {
		if early := o.history.until(o.fault.Add(o.lifted)).cures(freshness.CureStarted); len(early) > 0 {
			return fmt.Errorf("%w: tried %v while the fault lasted", errCure, early)
		}
	}
	for _, r := range tried {
		if !slices.Contains(w.must, r) && !slices.Contains(w.may, r) {
			return fmt.Errorf("%w: %v was tried, but only %v should and %v could be", errCure, r, w.must, w.may)
		}
	}
	return nil
}

func (w expectation) checkSight(o outcome) error {
	if !o.edited {
		return nil
	}
	var err error
	switch {
	case o.seen < 0:
		err = fmt.Errorf("%w: not within %v", errUnseen, o.waited)
	case w.edit == inTime && o.seen > promise:
		err = fmt.Errorf("%w: after %v, later than %v", errUnseen, o.seen, promise)
	case w.edit == afterwards && o.seen < o.lifted:
		err = fmt.Errorf("%w: seen after %v, the fault lasted for %v", errNoFault, o.seen, o.lifted)
	}
	if w.stockBlind && o.stockSeen >= 0 && (o.lifted < 0 || o.stockSeen < o.lifted) {
		err = errors.Join(err, fmt.Errorf("%w: the stock informer saw the edit after %v", errNoFault, o.stockSeen))
	}
	return err
}

func (w expectation) checkCost(o outcome) error {
	var errs []error
	if !w.mayRefill && o.refilled > 0 {
		errs = append(errs, fmt.Errorf("%w: %d", errRefilled, o.refilled))
	}
	if w.provenEvery > 0 && o.provenEvery > w.provenEvery {
		errs = append(errs, fmt.Errorf("%w: %v apart, more than %v", errRarely, o.provenEvery, w.provenEvery))
	}
	return errors.Join(errs...)
}

func (w expectation) checkEnd(o outcome) error {
	var errs []error
	if o.liveness != nil {
		errs = append(errs, fmt.Errorf("%w: %w", errLiveness, o.liveness))
	}
	if o.edited && o.fresh < 0 && !w.unproven {
		errs = append(errs, errNotFresh)
	}
	return errors.Join(append(errs, o.contents)...)
}
