// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var podsResource = schema.GroupResource{Resource: "pods"}

// timer names what can happen next. Where several do at once, the first comes first.
type timer int

const (
	tWeather timer = iota
	tFault
	tCommit
	tMood
	tOthers     // somebody else reads consistently
	tForward    // the server's cache has the next event
	tAccept     // the server takes up the watch
	tInitial    // and has sent what there is
	tBookmark   // and looks at its buckets
	tServerEnd  // and ends the watch
	tCut        // somebody on the way does
	tConnection // the client gets another connection
	tLost       // and hears that the one of its stream was lost
	tWire       // something arrives
	tApply      // and is applied to the store
	tRetry      // the reflector goes on
	tList       // and has the answer to a LIST
	tRequest
	tAsk    // somebody calls EnsureFresh
	tSpread // the monitor finds that too many prove themselves at this second
	tLook
)

const nTimers = int(tLook) + 1

const spreadGap = 12 * time.Hour

// life is one informer's: the model around it, and the state under test.
type life struct {
	n int // which of the fleet
	profile
	dice
	weather   *weather
	cluster   cluster
	clock     hostClock
	reflector reflector
	stream    *watchStream
	conn      connection
	conns     int
	requests  []request
	timers    [nTimers]time.Duration
	mood      mood

	stored        int64 // the store's resourceVersion
	storedText    string
	reflectedText string
	byEvent       bool // the newest that the store took was an event
	synced        bool
	toApply       []message

	asleepTo time.Duration // the process does not run before
	away     time.Duration // for which it did not run, all in all
	skips    bool          // looks at which nothing can happen
	restless bool          // takes looks while nothing is due
	lax      bool
	ticks    ticks
	dirty    bool // something has changed since the last look

	subject
	faults faults
	judge  referee
	record
}

func newLife(seed uint64, n int, o fleetOptions) *life {
	l := &life{
		n:       n,
		dice:    newDice(seed, uint64(n)),
		weather: newWeather(seed, uint64(n/o.perProcess), o.harshness),
		skips:   o.skips, restless: o.restless, lax: o.lax,
	}
	for k := range l.timers {
		l.timers[k] = never
	}
	l.profile = drawProfile(l.dice, &l.cluster)
	l.subject = newSubject(l.profile, &l.clock, l.Uint64(), o.tamper)
	l.keep = o.keep
	l.timers[tWeather] = l.weather.next()
	l.timers[tFault] = l.about(l.faultGap())
	l.timers[tMood] = time.Second
	l.timers[tOthers] = l.about(l.otherReaders)
	l.timers[tConnection] = l.about(l.connectionAge)
	if l.asks > 0 {
		l.timers[tAsk] = l.about(l.asks)
	}
	l.timers[tSpread] = l.about(spreadGap)
	l.reflector.initial = true
	l.timers[tRetry] = l.between(time.Second, 2*time.Second)
	l.ticks = newTicks(l.between(time.Second, 2*time.Second), tick+l.between(0, 3*time.Millisecond))
	l.timers[tLook] = l.ticks.anchor
	return l
}

// run lives until end, or until a rule is broken.
func (l *life) run(end time.Duration) {
	for l.judge.broken == "" {
		next, t := timer(0), never
		for k, at := range l.timers {
			if at < t {
				next, t = timer(k), at
			}
		}
		if t > end {
			return
		}
		l.tally.steps++
		l.happen(next, t)
		l.planLook(t)
	}
}

// happen has the world go on.
func (l *life) happen(k timer, t time.Duration) {
	if k >= tConnection && k != tRequest && k != tLook {
		if at := l.awake(t); at > t {
			l.timers[k] = at
			return
		}
	}
	switch k {
	case tWeather:
		l.weather.change(t, l.troubleBegins, l.troubleEnds)
		l.timers[tWeather] = l.weather.next()
	case tFault:
		l.onFault(t)
	case tCommit:
		l.write(t)
	case tMood:
		l.changeMood(t)
	case tOthers:
		l.timers[tOthers] = t + l.about(l.otherReaders)
		if j := l.cluster.alive(); j >= 0 && !l.weather.is(outage) {
			l.cluster.servers[j].reach(t, l.cluster.revision(t), &l.cluster)
		}
	case tForward:
		l.catchUp(t)
	case tAccept:
		l.timers[tAccept] = never
		l.accept(t)
	case tInitial:
		l.timers[tInitial] = never
		l.endInitial(t)
	case tBookmark:
		l.sendBookmark(t)
	case tServerEnd, tCut:
		l.timers[k] = never
		l.send(t, ended, 0)
	case tConnection:
		l.timers[tConnection] = t + l.about(l.connectionAge)
		l.newConnection()
	case tLost:
		l.hearOfIt(t)
	case tWire:
		l.receive(t)
	case tApply:
		l.applyDue(t)
	case tRetry:
		l.timers[tRetry] = never
		l.watch(t)
	case tList:
		l.timers[tList] = never
		l.listed(t)
	case tRequest:
		l.advance(t)
	case tAsk:
		l.timers[tAsk] = t + l.about(l.asks)
		l.want(l.clock.at(t))
		l.dirty = true
	case tSpread:
		l.timers[tSpread] = t + l.about(spreadGap)
		l.move()
		l.dirty = true
	case tLook:
		l.look(t)
	}
}

// awake is when the process runs at t or next, some milliseconds after it wakes.
func (l *life) awake(t time.Duration) time.Duration {
	if t >= l.asleepTo {
		return t
	}
	return l.asleepTo + l.between(0, 20*time.Millisecond)
}

// receive takes what has arrived.
func (l *life) receive(t time.Duration) {
	l.timers[tWire] = never
	for w := l.stream; w != nil && w == l.stream && len(w.wire) > 0; {
		if w.wire[0].at > t {
			l.timers[tWire] = w.wire[0].at
			return
		}
		m := w.wire[0]
		w.wire = w.wire[1:]
		l.take(t, m)
	}
}

// apply brings a message to the store, which may take a while.
func (l *life) apply(t time.Duration, m message) {
	l.dirty = true
	l.reflectedText = strconv.FormatInt(m.rv, 10)
	if len(l.toApply) == 0 && !l.weather.is(stuffed) {
		l.store(m)
		return
	}
	m.at = t
	if l.weather.is(stuffed) {
		m.at += l.between(0, time.Duration(l.weather.spells[stuffed].severity*float64(time.Second)))
	}
	if n := len(l.toApply); n > 0 {
		m.at = max(m.at, l.toApply[n-1].at)
	}
	l.toApply = append(l.toApply, m)
	l.timers[tApply] = l.toApply[0].at
}

func (l *life) applyDue(t time.Duration) {
	l.timers[tApply] = never
	for len(l.toApply) > 0 {
		if l.toApply[0].at > t {
			l.timers[tApply] = l.toApply[0].at
			return
		}
		l.store(l.toApply[0])
		l.toApply = l.toApply[1:]
	}
}

// store applies a message.
func (l *life) store(m message) {
	l.dirty = true
	l.stored, l.storedText = m.rv, l.reflectedText
	if m.rv != l.reflector.rv {
		l.storedText = strconv.FormatInt(m.rv, 10)
	}
	l.byEvent = m.kind == event
	if c := l.cluster.commits; m.kind == event && len(c) > 0 && c[0].rv == m.rv {
		l.cluster.commits = c[1:]
	}
}

// replace fills the store with what a server's cache held at rv.
func (l *life) replace(t time.Duration, rv int64) {
	l.dirty = true
	l.toApply, l.timers[tApply] = nil, never
	l.reflector.rv, l.stored, l.synced = rv, rv, true
	l.storedText = strconv.FormatInt(rv, 10)
	l.reflectedText = l.storedText
	l.byEvent = rv == l.cluster.last
	l.cluster.forget(rv)
	l.listedAnew(t)
}
