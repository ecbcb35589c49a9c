// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// never is a time that did not come.
const never time.Duration = -1

// outcome is what came of a row. The verdict on it, and every figure in the
// report, rest on this alone. detected and lifted count from the fault, seen, healed
// and stock from the edit.
type outcome struct {
	fault time.Time

	detected time.Duration // the guard changed its verdict, began a cure or a doubt
	edited   time.Duration // the edit was made
	lifted   time.Duration // the fault was taken away
	seen     time.Duration // the edit is in the guarded cache
	healed   time.Duration // and that is proven
	stock    time.Duration // the edit is in the stock informer's cache
	ended    time.Duration // nobody looks any more, counted from the fault

	history  history // since the fault
	reasons  []reason
	named    bool     // a reason had the words that were wanted
	renewed  bool     // a watch was renewed for a proof between the fault and healing
	faulty   []string // why the transport ended lists and watches
	requests int64    // by the guarded client until it was healed, or the end
	// relisted are the objects that the guarded client was sent to fill its cache
	// since the fault, stockRelisted those of the stock client.
	relisted, stockRelisted int64
	unhealthy               string // what the liveness check first objected to
	broken                  error  // why the row could not be played

	start freshness.Verdict // what it was when the fault came
	asked []string          // the guarded client's requests, for whoever looks into it
}

func newOutcome() outcome {
	return outcome{
		start:    freshness.Fresh,
		detected: never, edited: never, lifted: never, seen: never, healed: never, stock: never, ended: never,
	}
}

// cured says what healed the informers: the cures that were proven; else what the
// transport ended; else the end of the fault; else a watch that was renewed anyway;
// else client-go itself. It is empty
// where they were not healed.
func (o outcome) cured() string {
	if o.healed < 0 {
		return ""
	}
	until := o.fault.Add(o.edited + o.healed + time.Second) // a cure is proven with the edit
	var names []string
	for _, r := range o.history.between(o.fault, until).cures(freshness.CureProven) {
		if !slices.Contains(names, r.String()) {
			names = append(names, r.String())
		}
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case len(o.faulty) > 0:
		return "transport (" + strings.Join(o.faulty, ", ") + ")"
	case o.lifted >= 0:
		return "end of the fault"
	case o.renewed:
		return "renewed watch"
	default:
		return "client-go"
	}
}

// while returns what happened while the fault lasted.
func (o outcome) while() history {
	if o.lifted < 0 {
		return o.history
	}
	return o.history.between(o.fault, o.fault.Add(o.lifted))
}

// stockInTime tells whether the stock informer saw the edit while the fault lasted.
// A fault that lasts for ever does until the end.
func (o outcome) stockInTime() bool {
	return o.stock >= 0 && (o.lifted < 0 || o.edited+o.stock < o.lifted)
}
