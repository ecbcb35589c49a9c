// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/freshwatch/freshwatch/internal/errtext"
)

const (
	// askTimeout bounds one question to a Budget.
	askTimeout = 10 * time.Second
	// askEvery is how often a restart that was not granted is asked for again.
	askEvery = time.Minute
)

// Budget bounds restarts. RestartBudget is one that keeps them on a Lease.
type Budget interface {
	// Ask asks for a restart, and returns whether it is granted. at names the question: one
	// that is asked again, because its answer was an error, is the same restart. An error
	// says that it could not be noted, and so is not granted. A restart that was granted
	// counts, even if the reconcile returns before it comes. While it is not granted, and
	// reconciles are wedged, Ask is called once a minute; what was refused is asked as
	// another question. It is called in a goroutine of its own, by one at a time, and has to
	// return when ctx ends, after 10s.
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
	answer    chan answer                  // to the question that is being asked; nil: none is
	answerTo  time.Time                    // that question
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
	a.asking = len(a.failing) > 0
	if a.exhausted {
		a.at = a.clock.Now() // the last question was answered: this is another one
	}
	wanted, at := a.asking, a.at
	if a.answer != nil && !a.answerTo.Equal(at) {
		select {
		case <-a.answer: // to a question that nobody asks any more
			a.answer = nil
		default: // it is still asked, and no other is meanwhile
		}
	}
	if wanted && a.budget != nil && a.answer == nil {
		a.answer, a.answerTo = make(chan answer, 1), at
		go askBudget(a.budget, at, a.answer)
	}
	pending := a.answer
	a.mu.Unlock()
	if !wanted {
		return
	}
	got := answer{granted: true}
	if a.budget != nil {
		timer := a.clock.NewTimer(2 * askTimeout)
		defer timer.Stop()
		select {
		case got = <-pending:
			a.mu.Lock()
			a.answer = nil
			a.mu.Unlock()
		case <-timer.C(): // what comes after all is taken the next time
			got = answer{err: fmt.Errorf("the budget has not answered within %v", askTimeout)}
		}
	}
	if text, reason := a.take(got); text != "" {
		values := []any{"reason", reason}
		if budget, ok := a.budget.(fmt.Stringer); ok {
			values = append(values, "budget", budget.String())
		}
		a.log.Error(ErrWedged, text, values...)
	}
}

// answer is a Budget's.
type answer struct {
	granted bool
	err     error
}

// askBudget is left behind where a Budget does not look at its context.
func askBudget(budget Budget, at time.Time, to chan<- answer) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	out := answer{err: errors.New("the budget has panicked")}
	defer func() {
		_ = recover() // what was to protect the process must not end it
		to <- out
	}()
	granted, err := budget.Ask(ctx, at)
	out = answer{granted && err == nil, err}
}

// take notes the answer, and returns what is to be logged of it. It is one for those that
// are wedged now, even if those for which it was asked have returned: one note, one
// restart.
func (a *asker) take(got answer) (text, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.failing) == 0 {
		a.asking = false
		return "", ""
	}
	if got.granted {
		a.asking, a.granted, a.exhausted, a.failed = false, true, false, false
		a.asked++
		return "A restart is asked for", a.reason()
	}
	a.clock.AfterFunc(askEvery, func() { go a.try() })
	failed, exhausted := a.failed, a.exhausted
	a.failed, a.exhausted = got.err != nil, got.err == nil
	switch {
	case a.failed && !failed:
		return "A restart is not asked for, since it cannot be noted", errtext.OneLine(got.err)
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
		parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%d in %s", count[name], name), " in "))
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
