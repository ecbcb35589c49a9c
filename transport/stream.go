// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/freshwatch/freshwatch/internal/streamctx"
)

// stream is one list or watch from its request to its end.
type stream struct {
	call
	owner  *Transport
	caller context.Context //nolint:containedctx // the request's own: tells whose end it is
	ctx    *streamctx.Context
	cancel <-chan struct{} // the request's own, by which http.Client.Timeout ends it too; nil: none
	began  time.Time
	status atomic.Int32 // of the response; 0: none yet

	conn     atomic.Pointer[connection]
	reused   atomic.Bool  // that has carried other requests before
	answered atomic.Int64 // when the response began, wall clock, in ns; 0: not yet
	undialed atomic.Bool  // no connection could be opened for it
	bytes    atomic.Int64
	lastByte atomic.Int64 // wall clock, in ns; 0: none yet
	reading  atomic.Bool  // a Read is under way
	proto    atomic.Pointer[string]

	// The sweep's own.
	seen  int64     // bytes at the last sweep
	quiet time.Time // since when nothing has come while somebody waited
	start time.Time // began, moved by pauses of the process

	mu     sync.Mutex
	reason EndReason
	told   bool // to end, for reason
	ended  bool
}

// begin opens the books on a list or watch.
func (t *Transport) begin(req *http.Request, c call) *stream {
	ctx, now := req.Context(), t.clock.Now()
	s := &stream{call: c, owner: t, caller: ctx, began: now, start: now, quiet: now}
	s.cancel = req.Cancel //nolint:staticcheck // http.Client uses it
	// The trace lies below, so that net/http's own context is a direct child of
	// this one, and needs no goroutine.
	ctx = withDialFailure(ctx, &s.undialed)
	s.ctx = streamctx.New(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: s.gotConn,
	}))
	t.streams.add(s)
	return s
}

// gotConn notes the connection that the request is sent on, or sent again.
func (s *stream) gotConn(info httptrace.GotConnInfo) {
	c := s.owner.dialer.find(info.Conn)
	if c != nil {
		c.requests.Add(1)
	}
	s.reused.Store(info.Reused)
	if before := s.conn.Swap(c); before != c {
		before.noteStream(EndedServer) // what has become of that is not this stream's to say
	}
}

// tell has the stream end for a reason; the first one counts. It tells whether it
// was the first.
func (s *stream) tell(r EndReason) bool {
	s.mu.Lock()
	first := !s.told && !s.ended
	if first {
		s.told, s.reason = true, r
	}
	s.mu.Unlock()
	if first {
		s.ctx.Expire()
	}
	return first
}

// toldTo returns why the stream was told to end, if it was.
func (s *stream) toldTo() (EndReason, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason, s.told
}

// answer notes that the response has begun.
func (s *stream) answer(resp *http.Response) {
	if c := s.conn.Load(); c != nil {
		c.heard()
		c.proto.Store(&resp.Proto)
	}
	s.answered.Store(s.owner.clock.Now().UnixNano())
	s.proto.Store(&resp.Proto)
	s.status.Store(int32(resp.StatusCode)) //nolint:gosec // three digits
}

// finish closes the books, once, and returns the reason that counts.
func (s *stream) finish(r EndReason) EndReason {
	s.mu.Lock()
	first := !s.ended
	s.ended = true
	if first && !s.told {
		s.reason = r
	}
	r = s.reason
	s.mu.Unlock()
	if first {
		s.conn.Load().keep(s.lastByte.Load())
		s.owner.streams.remove(s, r)
		s.owner.metrics.ended(s.kind, r)
		s.ctx.Release()
		s.observeEnd(r)
	}
	return r
}

// observeEnd tells the observer.
func (s *stream) observeEnd(r EndReason) {
	if s.owner.dialer.observer == nil {
		return
	}
	e := Event{Type: StreamEnded, Verb: s.kind.verb(), Stream: s.describe(), Reason: r}
	e.Status = e.Stream.Status
	s.owner.dialer.tell(e)
	s.conn.Load().noteStream(r)
}

// why tells what an error says about how the stream ended.
func (s *stream) why(err error) EndReason {
	conn := s.conn.Load()
	reason, told := s.toldTo()
	switch {
	case told:
		return reason
	case s.failed():
		return EndedStatus
	case errors.Is(err, io.EOF):
		return EndedServer
	case s.callerEnded():
		return EndedClient
	case conn != nil && conn.recycled.Load():
		return EndedRecycled
	case utilnet.IsHTTP2ConnectionLost(err):
		return EndedPing
	}
	return EndedConnection
}

// callerEnded tells whether whoever made the request has ended it.
func (s *stream) callerEnded() bool {
	select {
	case <-s.cancel:
		return true
	default:
		return s.caller.Err() != nil
	}
}

// failed tells whether the response is an error.
func (s *stream) failed() bool {
	status := s.status.Load()
	return status != 0 && status != http.StatusOK
}

// noteBreak logs that a stream broke, once for each connection that is lost.
func (s *stream) noteBreak(r EndReason, err error) {
	conn := s.conn.Load()
	switch {
	case r == EndedPing && conn == nil:
		s.owner.log.Info("Connection lost: it did not answer a PING; its watches go on over another one")
	case r == EndedPing && conn.pingLost():
		local, remote := addresses(conn)
		s.owner.log.Info("Connection lost: it did not answer a PING; its watches go on over another one", "local", local, "remote", remote)
	case r == EndedConnection:
		s.owner.log.V(1).Info("Stream broke", "resource", s.path.GVR.String(), "namespace", s.path.Namespace, "err", err)
	}
}

// noteEnd logs that a stream was told to end.
func (s *stream) noteEnd(r EndReason) {
	log := s.owner.log
	if r == EndedRenewed || r == EndedIdle {
		log = log.V(1) // as quiet watches are, again and again
	}
	log.Info("Ending a stream past its deadline", "resource", s.path.GVR.String(), "namespace", s.path.Namespace, "verb", s.kind.verb(),
		"reason", r.String(), "age", s.owner.clock.Since(s.began).Round(time.Millisecond), "bytes", s.bytes.Load())
}

// sweep looks at the stream once a tick. paused is by how much the look is late.
func (s *stream) sweep(now time.Time, paused time.Duration, l limits) {
	if s.callerEnded() && s.ctx.Err() != nil { // which has its reason from the caller then
		s.finish(EndedClient) // its body may never be closed
		return
	}
	reading, answered, bytes := s.reading.Load(), s.status.Load() != 0, s.bytes.Load()
	conn := s.conn.Load()
	conn.noteLate(now)
	if bytes != s.seen {
		conn.heard()
	}
	if bytes != s.seen || answered && !reading {
		s.seen, s.quiet = bytes, now
	}
	s.quiet = earliest(now, s.quiet.Add(paused))
	s.start = s.start.Add(paused)
	p := progress{
		kind: s.kind, renew: s.renew, timeout: s.timeout,
		began: s.start, answered: answered, reading: reading, quiet: s.quiet,
	}
	if reason, yes := l.overdue(now, p); yes && s.tell(reason) {
		// A quiet watch may be idle, so that says nothing of its connection.
		deaf := (reason == EndedHeaders || reason == EndedStalled) && conn.deaf(now, silence(reason, l))
		// A log sink can hang; the other streams must not.
		go func() {
			s.noteEnd(reason)
			if deaf {
				local, remote := addresses(conn)
				s.owner.log.Info("Closing a connection over which nothing but PINGs has come; its watches go on over another one", "local", local, "remote", remote)
			}
		}()
	}
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// silence is how long a stream that ended for the reason had waited.
func silence(r EndReason, l limits) time.Duration {
	if r == EndedStalled {
		return l.list
	}
	return l.header
}
