// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"strconv"
	"time"
)

// request is a read that the state asked for, on its way.
type request struct {
	kind   actionKind
	stage  stage
	at     time.Duration // when the stage ends
	since  time.Time     // as the monitor counts it
	answer answer
	conn   connection
	audit  auditResult
}

type stage int

const (
	waiting  stage = iota // for its turn
	going                 // to the server
	comeback              // to the client
)

// ask starts a read.
func (l *life) ask(t time.Duration, kind actionKind) {
	l.note(t, actionNames[kind], 0)
	r := request{kind: kind, at: t + l.between(0, 200*time.Microsecond), since: l.clock.at(t)}
	if l.chance(0.03) {
		r.at += l.about(100 * time.Millisecond) // others have the slots
	}
	l.requests = append(l.requests, r)
	l.planRequests()
}

func (l *life) planRequests() {
	l.timers[tRequest] = never
	for _, r := range l.requests {
		l.timers[tRequest] = min(l.timers[tRequest], r.at)
	}
}

// advance moves the requests that are due a stage further.
func (l *life) advance(t time.Duration) {
	for i := 0; i < len(l.requests); i++ {
		r := &l.requests[i]
		if r.at > t {
			continue
		}
		switch r.stage {
		case waiting:
			l.sendRequest(t, r)
		case going:
			r.stage = comeback
			r.at = l.serve(t, r)
		case comeback:
			if at := l.awake(t); at > t {
				r.at = at
				continue
			}
			done := *r
			l.requests = append(l.requests[:i], l.requests[i+1:]...)
			i--
			done.answer.received = l.clock.at(t)
			l.answered(t, done)
		}
	}
	l.planRequests()
}

func (l *life) sendRequest(t time.Duration, r *request) {
	if at := l.awake(t); at > t {
		r.at = at
		return
	}
	conn, ok := l.connect()
	r.conn = conn
	r.answer = answer{sent: l.clock.at(t), stored: l.storedText, conn: conn.name}
	r.stage, r.at = going, t+l.latency()
	if r.kind == actAudit {
		r.audit = l.auditNow(r.answer.sent, l.cluster.commits)
	}
	if !ok {
		r.stage, r.answer.err, r.answer.conn = comeback, errRefused, ""
	}
}

// serve has the server work on a request, and returns when its answer is at the client.
func (l *life) serve(t time.Duration, r *request) time.Duration {
	c := &l.cluster
	s := c.servers[r.conn.server]
	done := t + l.latency() + l.between(time.Millisecond, 5*time.Millisecond) + l.slowness(3*time.Second)
	if l.weather.is(slow) && l.chance(0.02) {
		done += l.between(0, 12*time.Second)
	}
	f := l.weather.spells[failing]
	switch {
	case s.down:
		r.answer.err = errRefused
		return done
	case l.weather.is(failing) && l.chance(f.part):
		return l.failRequest(t, r, f.how)
	case r.kind == actAudit:
		return done + l.listTime
	case r.kind == actProbe:
		r.answer.rv = strconv.FormatInt(s.at(t), 10)
		return done
	}
	rv := c.revision(t)
	r.answer.rv = strconv.FormatInt(rv, 10)
	began := t
	if l.weather.is(outage) {
		began = l.weather.spells[outage].to + l.between(0, 2*time.Second) // the datastore answers, then
	}
	if c.noProgress {
		return done + began - t
	}
	var ready time.Duration
	if began > t {
		ready = s.take(began, rv, c)
	} else {
		ready = s.reach(t, rv, c)
	}
	if ready == never || ready-began > 3*time.Second {
		ready = began + 3*time.Second // and answers from the datastore
		if c.refuses {
			r.answer.err = errTooMany
		}
	}
	return done + ready - t
}

// failRequest has a request fail, and returns when.
func (l *life) failRequest(t time.Duration, r *request, how failure) time.Duration {
	switch how {
	case tooMany:
		r.answer.err = errTooMany
		return t + l.between(time.Second, 11*time.Second) // client-go repeats it ten times
	case internal:
		r.answer.err = errInternal
	case refused:
		r.answer.err = errRefused
	case forbidden:
		r.answer.err = errForbidden
	default:
		return t + time.Hour
	}
	return t + l.latency()
}

// giveUp cancels the reads that have taken too long by the time of a look, as the
// monitor does, and hands over their failure after it.
func (l *life) giveUp(t time.Duration, now time.Time) {
	for i := 0; i < len(l.requests); i++ {
		r := l.requests[i]
		if r.kind == actAudit || !r.since.Before(now.Add(-DefaultReadTimeout)) {
			continue
		}
		l.requests = append(l.requests[:i], l.requests[i+1:]...)
		i--
		r.answer.rv, r.answer.err, r.answer.received = "", errReadTimeout, now
		if r.stage == waiting {
			r.answer.sent = now
		}
		l.answered(t, r)
	}
	l.planRequests()
}

// answered hands an answer to the state.
func (l *life) answered(t time.Duration, r request) {
	a := r.answer
	if a.err != nil {
		a.rv = ""
	}
	a.state = classify(a.err)
	l.note(t, "answer to "+actionNames[r.kind], int64(a.state))
	if r.kind == actAudit {
		r.audit.received, r.audit.err = a.received, a.err
		l.handAudit(r.audit)
	} else {
		l.hand(r.kind, a)
	}
	l.drain(t)
	l.dirty = true
}
