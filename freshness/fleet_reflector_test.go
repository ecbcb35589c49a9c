// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/internal/streamctx"
)

var (
	errRefused   = errors.New("dial tcp: connect: connection refused")
	errTooMany   = apierrors.NewTooManyRequests("later", 1)
	errInternal  = apierrors.NewInternalError(errors.New("datastore"))
	errForbidden = apierrors.NewForbidden(podsResource, "", errors.New("no"))
)

// reflector is client-go's, as far as it matters here, with the package's own
// listerWatcher between it and the API server.
type reflector struct {
	rv          int64 // it has seen; 0: none
	unavailable bool  // the server does not know rv
	initial     bool  // it wants a list, and watches later
	listing     bool
	backoff     int
	retried     time.Duration // the last time that it waited
}

// wait has the reflector try again after its back-off. It begins with a list, unless
// the watch may be tried again as it was.
func (l *life) wait(t time.Duration, initial bool) {
	r := &l.reflector
	r.initial = r.initial || initial
	if t-r.retried > 2*time.Minute {
		r.backoff = 0
	}
	d := min(time.Duration(800*math.Pow(2, float64(r.backoff)))*time.Millisecond, 30*time.Second)
	r.backoff, r.retried = min(r.backoff+1, 8), t
	l.timers[tRetry] = t + l.between(d, 2*d)
}

// again has it go on at once.
func (l *life) again(t time.Duration) {
	l.timers[tRetry] = t + l.between(100*time.Microsecond, 5*time.Millisecond)
}

// watch sends the next watch.
func (l *life) watch(t time.Duration) {
	r := &l.reflector
	l.clock.now = l.clock.at(t)
	seconds := int64(l.between(5*time.Minute, 10*time.Minute) / time.Second)
	opts := metav1.ListOptions{TimeoutSeconds: &seconds, AllowWatchBookmarks: true}
	from := r.rv
	if r.unavailable {
		from = 0
	}
	if from > 0 {
		opts.ResourceVersion = strconv.FormatInt(from, 10)
	}
	if r.initial {
		yes := true
		opts.SendInitialEvents, opts.ResourceVersionMatch = &yes, metav1.ResourceVersionMatchNotOlderThan
	}
	ctx := streamctx.New(context.Background())
	id, err := l.books.begin(ctx, &opts)
	switch {
	case err != nil && r.initial:
		ctx.Release()
		l.list(t)
		return
	case err != nil: // the cure's: a relist is due
		ctx.Release()
		l.note(t, "relist", 0)
		l.wait(t, true)
		return
	}
	timeout := time.Duration(*opts.TimeoutSeconds) * time.Second
	if l.bounded && !r.initial && timeout > 200*time.Second {
		timeout = l.between(150*time.Second, 200*time.Second).Truncate(time.Second)
		l.books.current.timeout = timeout
	}
	conn, ok := l.connect()
	l.stream = &watchStream{id: id, ctx: ctx, conn: conn, initial: r.initial, from: from, timeout: timeout, silent: never}
	if err := l.refuseWatch(ok); err != nil {
		l.stream = nil
		l.books.refused(id, err)
		ctx.Release()
		l.note(t, "watch refused", 0)
		l.wait(t, !errors.Is(err, errRefused) && !apierrors.IsTooManyRequests(err))
		return
	}
	l.note(t, "watch", int64(timeout))
	l.timers[tAccept] = t + l.latency() + l.slowness(6*time.Second)
}

// refuseWatch tells how a watch fails, if it does.
func (l *life) refuseWatch(connected bool) error {
	s := l.weather.spells[failing]
	switch {
	case !connected:
		return errRefused
	case !l.weather.is(failing) || !s.watches || !l.chance(s.part):
		return nil
	}
	return [nFailures]error{errTooMany, errInternal, errRefused, nil, errForbidden}[s.how]
}

// list sends a LIST, as the reflector does where a stream of initial events is
// refused.
func (l *life) list(t time.Duration) {
	l.note(t, "list", 0)
	l.books.lists++
	l.books.tried = l.clock.at(t)
	l.reflector.listing = true
	l.timers[tList] = t + l.between(l.listTime/2, l.listTime) + l.slowness(3*time.Second)
}

// listed takes the answer.
func (l *life) listed(t time.Duration) {
	r := &l.reflector
	l.books.lists--
	r.listing = false
	conn, ok := l.connect()
	l.books.err = l.refuseWatch(ok)
	if l.books.err != nil {
		l.wait(t, true)
		return
	}
	s := l.cluster.servers[conn.server]
	if s.at(t) < r.rv { // it waits for the cache, in vain
		l.books.err = errTooMany
		l.wait(t, true)
		return
	}
	r.initial, r.unavailable = false, false
	l.replace(t, s.at(t))
	l.again(t)
}

// take handles what the stream has brought to the client.
func (l *life) take(t time.Duration, m message) {
	w, r := l.stream, &l.reflector
	switch m.kind {
	case headers:
		l.clock.now = l.clock.at(t)
		l.books.answered(w.id, &sentOn{conn: w.conn.name}, func() {})
		w.since = t
		l.dirty = true
	case event, bookmark:
		w.events++
		r.rv = m.rv
		l.apply(t, m)
	case initialEnd:
		w.synced, w.since, w.events = true, t, 0
		r.initial, r.unavailable = false, false
		l.replace(t, m.rv)
	case ended:
		l.letGo(t)
		if short := t-w.since < time.Second && w.events == 0; short && (w.synced || !w.initial) {
			l.wait(t, true)
			return
		}
		l.again(t)
	case aheadOf:
		l.letGo(t)
		r.unavailable = true
		l.again(t)
	case expired, broken:
		l.letGo(t)
		r.unavailable = r.unavailable || m.kind == expired && w.initial
		l.wait(t, true)
	}
}

// letGo has the reflector let go of its watch.
func (l *life) letGo(t time.Duration) {
	w := l.stream
	l.note(t, "watch ended", 0)
	l.clock.now = l.clock.at(t)
	l.books.end(w.id, nil)
	l.drop()
}

// drop forgets the stream.
func (l *life) drop() {
	w := l.stream
	w.ctx.Release()
	w.wire, w.over, l.stream = nil, true, nil
	for _, k := range []timer{tAccept, tForward, tBookmark, tServerEnd, tInitial, tCut, tWire} {
		l.timers[k] = never
	}
	l.dirty = true
}

// cure carries out what the state asked for.
func (l *life) cure(t time.Duration, a action) {
	l.clock.now = l.clock.at(t)
	if l.carryOut(a) {
		l.newConnection()
		l.onNewConnection(t)
	}
	l.dirty = true
	w := l.stream
	if w == nil || !w.ctx.Expired() {
		return
	}
	if w.since == 0 { // it waits for headers: the error is noted, the reflector gets an empty watch
		l.books.end(w.id, context.DeadlineExceeded)
	}
	l.note(t, "cut", 0)
	w.wire = append(w.wire[:0], message{kind: ended, at: t + l.between(100*time.Microsecond, 5*time.Millisecond)})
	w.over = true
	l.timers[tWire] = w.wire[0].at
	for _, k := range []timer{tAccept, tForward, tBookmark, tServerEnd, tInitial, tCut} {
		l.timers[k] = never
	}
}
