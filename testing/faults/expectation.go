// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// expectation is what a row wants to come of it. Whatever it does not mention is
// not looked at, but for liveness, which must not fail, and for the edit, which must
// be seen and proven in the end.
type expectation struct {
	// detected bounds the time from the fault until the guard has noticed; zero: it
	// need not.
	detected time.Duration
	// says are the verdicts that have to be reached, in this order.
	says []freshness.Verdict
	// never are those that must not be.
	never []freshness.Verdict
	// words have to be in one sentence that the guard says.
	words []string
	// must are the cures that have to be proven, may those that can be tried, too.
	must, may []freshness.Rung
	// patient: no cure is tried while the fault lasts.
	patient bool
	// healed bounds the time until the edit is seen and proven, from the end of a
	// fault that ends, else from the edit.
	healed time.Duration
	// unproven: the edit need only be seen, since nothing can be proven.
	unproven bool
	// inTime: it is seen and proven while the fault lasts.
	inTime bool
	// sooner: the guarded informer sees the edit before the stock one does.
	sooner bool
	// blind: the stock informer does not see the edit while the fault lasts, or ever.
	// That is what makes the fault one.
	blind bool
	// relists: objects may be sent again. Otherwise no more than the stock informer
	// needs, if asStock is set, else none.
	relists, asStock bool
	// unhealthy: liveness has to fail, since only a restart helps.
	unhealthy bool
	// requests bounds those of the guarded client until it is healed; zero: no bound.
	requests int64
}

// check says what is wrong with an outcome: nothing, if it is as it should be.
func (w expectation) check(o outcome) []string {
	if o.broken != nil {
		return []string{"the row could not be played: " + o.broken.Error()}
	}
	return slices.Concat(w.checkWords(o), w.checkCures(o), w.checkTimes(o), w.checkCost(o))
}

func (w expectation) checkWords(o outcome) []string {
	var bad []string
	got := o.history.verdicts()
	left := w.says
	for _, v := range got {
		if len(left) > 0 && v == left[0] {
			left = left[1:]
		}
	}
	if len(left) > 0 {
		bad = append(bad, fmt.Sprintf("the verdicts were %v, and not %v in that order", got, w.says))
	}
	for _, v := range w.never {
		if slices.Contains(got, v) {
			bad = append(bad, fmt.Sprintf("the verdict was %v", v))
		}
	}
	if len(w.words) > 0 && !o.named {
		bad = append(bad, fmt.Sprintf("no sentence of the guard says %q, only %q", w.words, o.sentences()))
	}
	switch {
	case w.unhealthy && o.unhealthy == "":
		bad = append(bad, "liveness did not fail")
	case !w.unhealthy && o.unhealthy != "":
		bad = append(bad, "liveness failed: "+o.unhealthy)
	}
	return bad
}

// sentences are what the guard has said, without repetition.
func (o outcome) sentences() []string {
	var out []string
	for _, r := range o.reasons {
		if !slices.Contains(out, r.Text) {
			out = append(out, r.Text)
		}
	}
	const most = 5
	return out[:min(len(out), most)]
}

func (w expectation) checkCures(o outcome) []string {
	var bad []string
	for _, r := range w.must {
		if !slices.Contains(o.history.cures(freshness.CureProven), r) {
			bad = append(bad, fmt.Sprintf("%v was not proven to cure it", r))
		}
	}
	tried := o.history.cures(freshness.CureStarted)
	for _, r := range distinct(tried) {
		if !slices.Contains(w.must, r) && !slices.Contains(w.may, r) {
			bad = append(bad, fmt.Sprintf("%v was tried", r))
		}
	}
	if early := o.while().cures(freshness.CureStarted); w.patient && len(early) > 0 {
		bad = append(bad, fmt.Sprintf("%v was tried while the fault lasted", early))
	}
	return bad
}

func (w expectation) checkTimes(o outcome) []string {
	var bad []string
	switch {
	case w.detected == 0:
	case o.detected < 0:
		bad = append(bad, "it was not detected")
	case o.detected > w.detected:
		bad = append(bad, fmt.Sprintf("it was detected after %v", short(o.detected)))
	}
	from := max(o.lifted-o.edited, 0) // of healed, which counts from the edit
	switch {
	case o.healed < 0:
		bad = append(bad, fmt.Sprintf("it was not healed within %v", short(o.ended)))
	case w.inTime && o.healed > w.healed:
		bad = append(bad, fmt.Sprintf("it was healed after %v", short(o.healed)))
	case o.healed-from > w.healed:
		bad = append(bad, fmt.Sprintf("it was healed %v after the end of the fault", short(o.healed-from)))
	}
	if w.sooner && o.stock >= 0 && o.seen > o.stock {
		bad = append(bad, fmt.Sprintf("the stock informer saw the edit after %v, the guarded one after %v", short(o.stock), short(o.seen)))
	}
	if w.blind && o.stockInTime() {
		bad = append(bad, fmt.Sprintf("the stock informer saw the edit after %v: there was no fault", short(o.stock)))
	}
	return bad
}

func (w expectation) checkCost(o outcome) []string {
	var bad []string
	switch {
	case w.relists:
	case w.asStock && o.relisted > o.stockRelisted:
		bad = append(bad, fmt.Sprintf("%d objects were sent again, to the stock informer %d", o.relisted, o.stockRelisted))
	case !w.asStock && o.relisted > 0:
		bad = append(bad, fmt.Sprintf("%d objects were sent again", o.relisted))
	}
	if w.requests > 0 && o.requests > w.requests {
		bad = append(bad, fmt.Sprintf("%d requests were made", o.requests))
	}
	return bad
}

// String says it in words.
func (w expectation) String() string {
	var parts []string
	add := func(ok bool, format string, args ...any) {
		if ok {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(w.detected > 0, "noticed within %v", short(w.detected))
	add(len(w.says) > 0, "verdicts %s", list(w.says))
	add(len(w.never) > 0, "never %s", list(w.never))
	add(len(w.words) > 0, "says %q", strings.Join(w.words, " ... "))
	add(len(w.must) > 0, "cured by %s", list(w.must))
	add(len(w.must) == 0 && len(w.may) == 0, "no cure")
	add(len(w.may) > 0, "may try %s", list(w.may))
	add(w.patient, "no cure while it lasts")
	add(w.unproven, "seen is enough, since nothing can be proven")
	if w.inTime {
		add(true, "healed within %v though it lasts", short(w.healed))
	} else {
		add(true, "healed within %v of the edit or the end of the fault", short(w.healed))
	}
	add(!w.relists && !w.asStock, "nothing listed again")
	add(w.asStock, "no more listed again than stock")
	add(w.requests > 0, "at most %d requests", w.requests)
	add(w.sooner, "seen before stock sees it")
	add(w.blind, "stock does not see the edit meanwhile")
	add(w.unhealthy, "liveness fails")
	add(!w.unhealthy, "liveness does not fail")
	return strings.Join(parts, "; ")
}

func list[T fmt.Stringer](items []T) string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = item.String()
	}
	return strings.Join(names, ", ")
}

func distinct[T comparable](items []T) []T {
	var out []T
	for _, item := range items {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

func short(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
