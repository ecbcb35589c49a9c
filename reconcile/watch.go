// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// running is one reconcile that runs, and its context. The watch's lock guards what is
// not the context's.
type running struct {
	limited
	progress progress
	index    int // in watch.running
}

// entry is a request and its reconcile.
type entry[request comparable] struct {
	request request
	*running
}

// watch keeps an eye on the reconciles of one controller. One timer, set for the first
// of them whose stage ends, serves all: a reconcile that returns in time never touches
// it.
type watch[request comparable] struct {
	opts  DeadlineOptions
	fake  clock.PassiveClock // nil: the clock is the real one
	asker *asker
	descs deadlineDescs

	mu      sync.Mutex
	running []entry[request] // as many as there are workers: few enough to look through
	armed   time.Time        // when the timer fires; zero: it does not
	told    time.Time        // when an overrun was last logged
	counts  deadlineCounts
}

// deadlineCounts only grow.
type deadlineCounts struct{ overruns, wedges, held uint64 }

func newWatch[request comparable](opts DeadlineOptions, asker *asker) *watch[request] {
	w := &watch[request]{opts: opts, asker: asker, descs: newDeadlineDescs(opts.Name)}
	if _, isReal := opts.Clock.(clock.RealClock); !isReal {
		w.fake = opts.Clock
	}
	return w
}

// begin notes that a reconcile begins, and returns its context; or tells that the same
// request is being reconciled.
func (w *watch[request]) begin(ctx context.Context, req request) (*running, bool) {
	now, limit := w.opts.Clock.Now(), w.opts.Timeout
	if earlier, ok := ctx.Deadline(); ok {
		limit = min(limit, max(0, time.Until(earlier))) //nolint:forbidigo // a context keeps to the real clock
	}
	due := now.Add(limit)
	r := &running{limited: limited{parent: ctx, began: now, limit: limit, clock: w.fake}, progress: progress{due: due}}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.running {
		if w.running[i].request == req {
			w.counts.held++
			return nil, false
		}
	}
	r.index = len(w.running)
	w.running = append(w.running, entry[request]{req, r})
	w.arm(now, due)
	return r, true
}

// arm sets the timer, unless it fires before anyway. The caller holds the lock.
func (w *watch[request]) arm(now, due time.Time) {
	if !w.armed.IsZero() && !due.Before(w.armed) {
		return
	}
	w.armed = due
	// A fake clock calls back in the goroutine that steps it, with its lock held.
	w.opts.Clock.AfterFunc(due.Sub(now), func() { go w.look(due) })
}

// end notes that a reconcile has returned, and returns an error if that was after its
// deadline.
func (w *watch[request]) end(req request, r *running) *DeadlineError {
	r.finish()
	w.mu.Lock()
	last := len(w.running) - 1
	w.running[r.index] = w.running[last]
	w.running[r.index].index = r.index
	w.running[last] = entry[request]{}
	w.running = w.running[:last]
	if r.progress.stage == Running && r.limit < w.opts.Timeout && r.parent.Err() == context.DeadlineExceeded {
		r.progress.stage = Overrun // the parent's deadline was there before the timer
		w.counts.overruns++
	}
	stage := r.progress.stage
	w.mu.Unlock()
	if stage == Running {
		return nil
	}
	took := w.opts.Clock.Since(r.began)
	if stage >= Wedged {
		w.asker.release(r)
		w.opts.Logger.Info("Wedged reconcile has returned", "request", fmt.Sprint(req), "took", took.String())
	}
	return w.overrun(req, r, took)
}

func (w *watch[request]) overrun(req any, r *running, took time.Duration) *DeadlineError {
	return &DeadlineError{Controller: w.opts.Name, Request: fmt.Sprint(req), Limit: r.limit.Round(10 * time.Millisecond), Took: took}
}

// look does what is due, and sets the timer anew.
func (w *watch[request]) look(armed time.Time) {
	for _, do := range w.advance(armed) {
		do()
	}
}

// advance brings every reconcile's progress up to date, and returns what has to be done
// about it without the lock.
func (w *watch[request]) advance(armed time.Time) (todo []func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !armed.Equal(w.armed) {
		return nil // a timer that was set for a later time than the present one
	}
	w.armed = time.Time{}
	now := w.opts.Clock.Now()
	late := now.Sub(armed)
	var overrun, wedged []blocked
	var next time.Time
	for _, e := range w.running {
		before := e.progress.stage
		e.progress = e.progress.advance(now, late, w.opts)
		if due := e.progress.next(now); e.progress.stage != Failing && (next.IsZero() || due.Before(next)) {
			next = due
		}
		if e.progress.stage == before {
			continue
		}
		switch e.progress.stage {
		case Running: // where each begins
		case Overrun:
			w.counts.overruns++
			overrun = append(overrun, blocked{e.request, e.running, now.Sub(e.began)})
		case Wedged:
			w.counts.wedges++
			wedged = append(wedged, blocked{e.request, e.running, now.Sub(e.began)})
		case Failing:
			if !w.opts.NeverFail {
				todo = append(todo, func() { w.asker.ask(e.running, w.opts) })
			}
		}
	}
	if !next.IsZero() {
		w.arm(now, next)
	}
	if len(overrun) > 0 {
		tell := w.told.IsZero() || now.Sub(w.told) >= overrunEvery
		if tell {
			w.told = now
		}
		todo = append(todo, func() { w.cutOff(overrun, tell) })
	}
	if len(wedged) > 0 {
		todo = append(todo, func() { report(w.opts, wedged) })
	}
	return todo
}
