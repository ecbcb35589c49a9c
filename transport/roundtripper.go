// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/freshwatch/freshwatch/internal/watchnote"
)

// unboundedInitial is the timeout of a watch that begins with initial events and
// has none: the longest that a reflector asks for (client-go 0.37).
const unboundedInitial = 10 * time.Minute

// roundTripper stands directly on client-go's own transport, below the wrappers
// that add credentials, so that it sees requests as they are sent.
type roundTripper struct {
	*Transport
	next http.RoundTripper
}

var _ utilnet.RoundTripperWrapper = (*roundTripper)(nil)

// wrap is the rest.Config's WrapTransport.
func (t *Transport) wrap(next http.RoundTripper) http.RoundTripper {
	inner := innermost(next)
	switch {
	case inner == nil: // such as the one that upgrades connections for exec
	case !isClientGos(inner.DialContext):
		t.unauthorized.forgetConnections() // a copy of the config has a Transport or a Dial of its own
	case inner.HTTP2 == nil:
		inner.HTTP2 = t.http2 // before its first request
	}
	return &roundTripper{Transport: t, next: next}
}

// innermost returns net/http's own transport, if there is one.
func innermost(rt http.RoundTripper) *http.Transport {
	for {
		switch r := rt.(type) {
		case *http.Transport:
			return r
		case utilnet.RoundTripperWrapper:
			rt = r.WrappedRoundTripper()
		default:
			return nil
		}
	}
}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper, by which client-go
// finds what lies below.
func (r *roundTripper) WrappedRoundTripper() http.RoundTripper { return r.next }

// RoundTrip implements http.RoundTripper.
func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.unauthorized.wantsFresh() && req.Header.Get("Upgrade") == "" {
		// Whatever connection it is sent on, the next request dials a new one.
		clone := *req
		clone.Close = true
		req = &clone
	}
	c := classify(req)
	if c.kind == other {
		return r.plain(req)
	}
	note := r.bound(&c)
	note.Path = req.URL.RequestURI()
	watchnote.Tell(req.Context(), note)
	return r.guarded(req, c) //nolint:contextcheck // its context is made from the request's own
}

// send hands a request on. A transport of the user's own may break the rules.
func (r *roundTripper) send(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err == nil && resp == nil {
		err = errNothing
	}
	return resp, err
}

// plain sends a request that has no deadlines of ours.
func (r *roundTripper) plain(req *http.Request) (*http.Response, error) {
	if !r.unauthorized.suspects() {
		resp, err := r.send(req)
		if err == nil {
			r.dialer.answered.Store(r.clock.Now().UnixNano())
			r.observe(req, resp, nil, nil)
		}
		return resp, err
	}
	var conn atomic.Pointer[connection]
	resp, err := r.send(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { conn.Store(r.dialer.find(info.Conn)) },
	})))
	if err == nil {
		r.observe(req, resp, conn.Load(), nil)
	}
	return resp, err
}

// bound brings a watch under MaxWatch.
func (r *roundTripper) bound(c *call) watchnote.Note {
	limit := r.streams.limits.maxWatch
	jittered := limit - rand.N(limit/4).Truncate(time.Second)
	switch {
	case c.kind != watch:
	case c.initial:
		c.renew = jittered
		if c.timeout == 0 {
			c.timeout = max(unboundedInitial, limit)
		}
	case c.timeout == 0 || c.timeout > limit:
		c.timeout = jittered
	}
	return watchnote.Note{GVR: c.path.GVR, Namespace: c.path.Namespace, Timeout: c.timeout}
}

// guarded sends a list or watch.
func (r *roundTripper) guarded(req *http.Request, c call) (*http.Response, error) {
	if c.kind == watch {
		req = withTimeout(req, c.timeout)
	}
	s := r.begin(req, c)
	resp, err := r.send(req.WithContext(s.ctx))
	r.metrics.waited(c.kind, r.clock.Since(s.began))
	if err != nil {
		reason := s.why(err)
		if reason == EndedServer {
			reason = EndedConnection // no response is no end
		}
		reason = s.finish(reason)
		s.noteBreak(reason, err)
		return nil, s.refused(reason, err)
	}
	s.answer(resp)
	r.observe(req, resp, s.conn.Load(), s)
	if resp.Body == nil {
		s.finish(s.why(io.EOF))
		return resp, nil
	}
	resp.Body = &body{ReadCloser: resp.Body, stream: s}
	return resp, nil
}

// observe shows an answer to whoever counts 401s, with the connection it came
// over (nil: unknown), and the list or watch that it answers (nil: neither).
func (r *roundTripper) observe(req *http.Request, resp *http.Response, conn *connection, s *stream) {
	var opened time.Time
	if conn != nil {
		opened = conn.opened
	}
	if resp.StatusCode == http.StatusUnauthorized && r.dialer.observer != nil {
		e := Event{Type: Refused, Status: resp.StatusCode}
		if conn != nil {
			e.Connection = conn.describe()
		}
		if s != nil {
			e.Verb, e.Stream = s.kind.verb(), s.describe()
		}
		r.dialer.tell(e)
	}
	r.unauthorized.observe(req, resp.StatusCode, opened, r.next)
}
