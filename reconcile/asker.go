// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

const (
	// askTimeout bounds one question to a Budget.
	askTimeout = 10 * time.Second
	// askEvery is how often a restart that was not granted is asked for again.
	askEvery = time.Minute
)

// Budget bounds restarts. RestartBudget is one that keeps them on a Lease.
type Budget interface {
	// Ask asks for a restart, and returns whether it is granted: at most once for the
	// same moment, however often it is asked. An error says that it could not be noted,
	// and so is not granted. It is called in a goroutine of its own, and has to return
	// when ctx ends.
	Ask(ctx context.Context, at time.Time) (granted bool, err error)
}

// asker asks for a restart on behalf of reconciles that are wedged for too long, in one
// controller or in all of a program's.
type asker struct {
	budget Budget
	clock  clock.WithDelayedExecution
	log    logr.Logger

	mu        sync.Mutex
	failing   map[*running]DeadlineOptions // and whose each is
	at        time.Time                    // when the first of them came
	asking    bool                         // or waiting to ask again
	granted   bool
	exhausted bool // the budget has said no
	failed    bool // it has said nothing
	asked     uint64
}

func newAsker(opts DeadlineOptions) *asker {
	return &asker{budget: opts.Budget, clock: opts.Clock, log: opts.Logger, failing: map[*running]DeadlineOptions{}}
}

// ask adds a reconcile to those that want a restart, unless it has just returned.
func (a *asker) ask(r *running, of DeadlineOptions) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.ended.Load() {
		return // release was, or will be, in vain
	}
	if len(a.failing) == 0 {
		a.at = a.clock.Now()
	}
	a.failing[r] = of
	if !a.asking && !a.granted {
		a.asking = true
		go a.try()
	}
}

// release takes it away again: it has returned after all.
func (a *asker) release(r *running) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.failing, r)
	if len(a.failing) == 0 {
		a.granted, a.exhausted, a.failed = false, false, false
	}
}

// try asks the budget, and again later where that does not grant a restart.
func (a *asker) try() {
	a.mu.Lock()
	at := a.at
	a.asking = len(a.failing) > 0
	wanted := a.asking
	a.mu.Unlock()
	if !wanted {
		return
	}
	granted, err := true, error(nil)
	if a.budget != nil {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		granted, err = a.budget.Ask(ctx, at)
	}
	text, reason := a.take(granted, err)
	if text != "" {
		a.log.Info(text, "reason", reason)
	}
}

// take notes the answer, and returns what is to be logged of it. It is one for those that
// are wedged now, even if those for which it was asked have returned: one note, one
// restart.
func (a *asker) take(granted bool, err error) (text, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if granted && err == nil && len(a.failing) > 0 {
		a.asking, a.granted, a.exhausted, a.failed = false, true, false, false
		a.asked++
		return "A restart is asked for", a.reason()
	}
	a.clock.AfterFunc(askEvery, func() { go a.try() })
	failed, exhausted := a.failed, a.exhausted
	a.failed, a.exhausted = err != nil, err == nil && !granted
	switch {
	case a.failed && !failed:
		return "A restart is not asked for, since it cannot be noted", err.Error()
	case a.exhausted && !exhausted:
		return "No more restarts are asked for: those before have not helped, so look for the cause", a.reason()
	}
	return "", ""
}

// reason names what wants a restart. The caller holds the lock.
func (a *asker) reason() string {
	count := map[string]int{}
	for _, of := range a.failing {
		count[of.Name]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %d wedged", name, count[name])))
	}
	return strings.Join(parts, ", ")
}

// check fails once a restart is granted, for as long as one is wanted.
func (a *asker) check() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.granted {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrWedged, a.reason())
}

// state is what the metrics tell.
func (a *asker) state() (asked uint64, exhausted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked, a.exhausted
}
