// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// troubleBegins brings on a spell of the weather.
func (l *life) troubleBegins(k trouble, s spell) {
	t := s.from
	l.note(t, troubleNames[k], int64(s.to-s.from))
	l.judge.disturb(k, s)
	switch k {
	case collecting, stopped, asleep:
		l.pause(t, s.to)
		if k == asleep {
			l.loseConnection(t, s)
		}
	case clockSet:
		if next := l.ticks.first(t); l.ticks.anchor <= t {
			l.ticks.disturb(t, next, &l.clock)
			l.wake()
		}
		l.clock.step(t, s.by)
		l.dirty = true
	case restarting:
		j := int(s.severity * float64(len(l.cluster.servers)))
		l.cluster.servers[j].restart(t, s.to)
		if w := l.stream; w != nil && w.conn.server == j && w.accepted {
			l.send(t, []messageKind{ended, broken}[l.IntN(2)], 0)
		}
		if l.conn.server == j {
			l.conn = connection{}
		}
	case lagging:
		for _, w := range l.cluster.servers {
			w.lag += time.Duration(s.severity * float64(6*time.Second))
		}
	case outage, dead:
		l.cluster.hold(t, true)
		l.faults.lull(t)
	case slow, failing, stuffed:
	}
}

// troubleEnds ends it.
func (l *life) troubleEnds(k trouble, s spell) {
	t := s.to
	switch k {
	case asleep:
		l.clock.sleep(s.from, s.to)
	case restarting:
		j := int(s.severity * float64(len(l.cluster.servers)))
		l.cluster.back(j, t)
		l.faults.refilled(j, l.cluster.writtenAfter(t))
		l.judge.stall.counted = false
	case lagging:
		for _, w := range l.cluster.servers {
			w.lag -= time.Duration(s.severity * float64(6*time.Second))
		}
	case outage, dead:
		l.cluster.hold(t, false)
		l.faults.lacks(l.cluster.writtenAfter(t))
	default:
	}
}

// pause keeps the process from running.
func (l *life) pause(t, until time.Duration) {
	from := max(t, l.asleepTo)
	if until <= from {
		return
	}
	l.away += until - from
	l.asleepTo = until
	l.ticks.disturb(t, until+l.between(0, 20*time.Millisecond), &l.clock)
	l.wake()
	l.dirty = true
}

// loseConnection is what becomes of a stream while the machine sleeps: after a minute
// or so the server's packets get no answer, and it gives up. On waking the client
// hears of that when it next sends something, a PING at the latest.
func (l *life) loseConnection(t time.Duration, s spell) {
	if s.to-s.from < time.Minute || l.stream == nil || s.to-s.from < 10*time.Minute && l.chance(0.3) {
		return
	}
	l.stream.silent, l.stream.farewell = min(l.stream.silent, t), false
	l.judge.deaf = true
	l.note(t, "stream lost asleep", 0)
	l.timers[tLost] = s.to + l.between(0, 45*time.Second)
}

// hearOfIt is when the client hears that its connection is lost.
func (l *life) hearOfIt(t time.Duration) {
	l.timers[tLost] = never
	if w := l.stream; l.judge.deaf && w != nil && w.silent < never {
		l.take(t, message{kind: broken, at: t})
	}
}
