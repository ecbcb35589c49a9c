// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// ticks is when the monitor looks: again and again, a little more than a tick apart,
// and late after each time in which the process did not run.
type ticks struct {
	anchor  time.Duration // the first since then
	every   time.Duration
	before  time.Time // what the clock showed at the last look before the anchor
	took    time.Duration
	started bool
}

func newTicks(first, every time.Duration) ticks { return ticks{anchor: first, every: every} }

// last is the newest look at or before t; not before the anchor.
func (k *ticks) last(t time.Duration) time.Duration {
	return k.anchor + (t - k.anchor).Truncate(k.every)
}

// first is the first look at or after t that was not taken yet.
func (k *ticks) first(t time.Duration) time.Duration {
	at := k.anchor
	if t > k.anchor {
		at += (t - k.anchor + k.every - 1).Truncate(k.every)
	}
	if k.started && at <= k.took {
		at = k.took + k.every
	}
	return at
}

// disturb notes that the look after t comes at next instead, or by another clock.
func (k *ticks) disturb(t, next time.Duration, c *hostClock) {
	if k.anchor <= t {
		k.before = c.at(k.last(t))
	}
	k.anchor = next
}

// previous is what the clock showed at the look before the one at t.
func (k *ticks) previous(t time.Duration, c *hostClock) time.Time {
	if t == k.anchor {
		return k.before
	}
	return c.at(t - k.every)
}

// planLook sets the next look: the very next if anything has changed or looks are not
// skipped, else the first one at which the state may do something by itself.
func (l *life) planLook(t time.Duration) {
	if !l.skips || l.dirty {
		if !l.rests.IsZero() && !l.restless {
			t = max(t, l.clock.when(l.rests))
		}
		l.timers[tLook] = l.ticks.first(t)
		return
	}
	due := l.due(&l.clock)
	for _, r := range l.requests {
		if r.kind == actAudit {
			continue
		}
		due = min(due, l.clock.when(r.since.Add(DefaultReadTimeout+1)))
	}
	l.timers[tLook] = never
	if due < never {
		l.timers[tLook] = l.ticks.first(max(due, t))
	}
}

// look has the state look at its informer.
func (l *life) look(t time.Duration) {
	if l.skips && l.ticks.started {
		l.skipTo(l.ticks.previous(t, &l.clock), l.restless)
	}
	l.ticks.took, l.ticks.started = t, true
	l.dirty = false
	l.tally.looks++
	now := l.clock.at(t)
	l.clock.now = now
	o := observation{
		now: now, synced: l.synced, stored: l.storedText, reflected: l.reflectedText,
		crowd:   l.faults.crowd && l.judge.verdict == Stalled,
		byEvent: func(string) bool { return l.byEvent },
	}
	o.stream, o.previous, o.err = l.books.look()
	acts := l.step(o)
	l.drain(t)
	for _, a := range acts {
		l.judgeAction(t, a)
		switch a.kind {
		case actCure:
			l.note(t, "cure "+a.rung.String(), 0)
			l.cure(t, a)
		case actRead, actProbe, actAudit:
			l.ask(t, a.kind)
		default:
			l.tally.unknown++
		}
	}
	l.judgeLook(t, now)
	l.giveUp(t, now)
}
