// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/freshwatch/freshwatch/internal/errtext"
)

// run is what is known since Start. It belongs to Start's goroutine, but for the writer,
// which belongs to the attempt that is under way.
type run struct {
	*Events
	log        logr.Logger
	canary     canaryWatch
	reconciles reconcileWatch

	writer   *writer
	outcomes chan outcome
	busy     bool // an attempt is under way
	job      *job // that is not done yet; nil: none
	backoff  wait.Backoff
	again    time.Time // when it is tried again

	said result // how the last one ended that was logged
}

// backoffs are between attempts: 1s, 2s, and so on, up to a minute, each with some jitter,
// so that replicas do not come back to an API server in step.
func backoffs() wait.Backoff {
	return wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 100, Cap: time.Minute}
}

// do makes an attempt.
func (r *run) do(ctx context.Context, attempt func(context.Context) outcome) {
	r.busy = true
	go func() {
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		r.outcomes <- attempt(ctx)
	}()
}

// leave waits for the attempt that was cut short, unless its client does not look at its
// context: then it is left behind.
func (r *run) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if r.busy {
		select {
		case <-r.outcomes:
		case <-ctx.Done():
		}
	}
}

// next begins the attempt that is due.
func (r *run) next(ctx context.Context) {
	now := r.opts.Clock.Now()
	if r.busy || now.Before(r.again) {
		return
	}
	if r.job == nil {
		r.mu.Lock()
		n, due := r.pending.next(now)
		r.mu.Unlock()
		if !due {
			return
		}
		r.job = &job{note: n}
	}
	j := r.job
	r.do(ctx, func(ctx context.Context) outcome { return r.writer.write(ctx, j) })
}

// take notes how an attempt has ended.
func (r *run) take(o outcome) {
	r.busy = false
	r.say(o)
	if r.job == nil {
		return // it was the check at the start
	}
	r.mu.Lock()
	r.counts[o.result]++
	r.mu.Unlock()
	if o.result == failed {
		if r.again.IsZero() {
			r.backoff = backoffs()
		}
		r.again = r.opts.Clock.Now().Add(r.backoff.Step())
		return
	}
	r.job, r.again = nil, time.Time{}
}

// say logs an outcome that is another one than before.
func (r *run) say(o outcome) {
	if o.result == r.said {
		return
	}
	r.said = o.result
	switch o.result {
	case written:
		r.log.Info("Events are written again")
	case failed:
		r.log.Info("An Event cannot be written: it is kept, and tried again", "reason", errtext.OneLine(o.err))
	case forbidden, rejected, dropped:
		r.log.Info("Events cannot be written, and are dropped", "reason", errtext.OneLine(o.err))
	}
}

// look asks those who do not tell by themselves.
func (r *run) look() {
	now := r.opts.Clock.Now()
	if ask := r.opts.Canary; ask != nil {
		st := ask()
		r.locked(func() { r.canary.look(st, now, r.pending) })
	}
	if ask := r.opts.Reconciles; ask != nil {
		all := ask()
		r.locked(func() { r.reconciles.reconciles(all, now, r.pending) })
	}
	if ask := r.opts.SpentBudgets; ask != nil {
		all := ask()
		r.locked(func() { r.reconciles.budgets(all, now, r.pending) })
	}
}

func (r *run) locked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// flush writes what is left, each Event once, for as long as it has time.
func (r *run) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	r.look()
	for first := true; ; first = false {
		if r.busy {
			select {
			case o := <-r.outcomes:
				r.take(o)
			case <-ctx.Done():
				return
			}
		}
		if r.job != nil && !first { // it has had its chance
			r.job = nil
		}
		if r.job == nil && !r.takeRest() {
			return
		}
		j := r.job
		r.do(ctx, func(ctx context.Context) outcome { return r.writer.write(ctx, j) })
	}
}

// takeRest takes what is pending, whether it is due or not.
func (r *run) takeRest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, has := r.pending.rest(r.opts.Clock.Now())
	if has {
		r.job = &job{note: n}
	}
	return has
}
