// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/freshwatch/freshwatch/transport"
)

var podKind = corev1.SchemeGroupVersion.WithResource("pods")

// notes is what an observer was told.
type notes struct {
	mu     sync.Mutex
	events []transport.Event
}

func (n *notes) observe(e transport.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, e)
}

func (n *notes) all() []transport.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]transport.Event(nil), n.events...)
}

// said returns the events as lines, with what a test can foretell of them. Those of one
// instant of a bubble have no order.
func (n *notes) said() []string {
	var out []string
	begin, instant := 0, time.Time{}
	for _, e := range n.all() {
		if !e.Time.Equal(instant) {
			begin, instant = len(out), e.Time
		}
		switch e.Type {
		case transport.StreamEnded:
			out = append(out, fmt.Sprintf("%v %s %d %v", e.Type, e.Verb, e.Status, e.Reason))
		case transport.ConnectionClosed:
			out = append(out, fmt.Sprintf("%v %v", e.Type, e.Reason))
		case transport.ConnectionOpened, transport.Refused, transport.DialFailed:
			out = append(out, e.Type.String())
		}
		slices.Sort(out[begin:])
	}
	return out
}

// observed is a wrapped client of a server in the test's bubble.
type observed struct {
	*notes
	server *server
	tr     *transport.Transport
	client *http.Client
	dial   func(context.Context, string, string) (net.Conn, error)
	down   atomic.Bool // no connection can be opened
}

func observeServer(t *testing.T, opts transport.Options, so serverOptions) *observed {
	t.Helper()
	network := newMemoryNetwork()
	so.listener = network.listen("api.test:443")
	o := &observed{notes: &notes{}, server: startServer(t, so), dial: network.dial}
	cfg := o.server.config()
	cfg.BearerToken = "of its own"
	cfg.Dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
		if o.down.Load() {
			return nil, io.ErrUnexpectedEOF
		}
		return o.dial(ctx, kind, address)
	}
	opts.Observer, opts.Logger = o.observe, logr.Discard()
	o.tr = wrap(t, cfg, opts)
	o.client = clientFor(t, cfg)
	return o
}

// ask sends a GET and reads what comes until the end.
func (o *observed) ask(ctx context.Context, t *testing.T, path string) {
	t.Helper()
	resp, err := o.client.Do(newRequest(ctx, t, http.MethodGet, o.server.url+path, http.NoBody))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// TestObserver has every reason for which a list or watch can end, and a connection.
func TestObserver(t *testing.T) {
	const (
		opened = "connection-opened"
		closed = "connection-closed connection" // by net/http, once it has been idle for 90 s
	)
	answers := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	mute := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	tests := []struct {
		name   string
		server serverOptions
		opts   transport.Options
		path   string // watchPath by default
		fault  func(t *testing.T, o *observed, cancel func())
		again  bool // the request is sent twice
		want   []string
	}{
		{name: "list", path: podsPath, want: []string{opened, "stream-ended list 200 server", closed}},
		{name: "neither list nor watch", path: podPath, want: []string{opened, closed}},
		{name: "server", want: []string{opened, "stream-ended watch 200 server", closed}},
		{name: "status", server: serverOptions{handler: answers(http.StatusGone)}, want: []string{opened, "stream-ended watch 410 status", closed}},
		{
			name: "refused", server: serverOptions{handler: answers(http.StatusUnauthorized)},
			want: []string{opened, "refused", "stream-ended watch 401 status", closed},
		},
		{
			name: "refused, neither list nor watch", path: podPath, server: serverOptions{handler: answers(http.StatusUnauthorized)},
			want: []string{opened, "refused", closed},
		},
		{
			name: "client", server: serverOptions{handler: stalling},
			fault: func(_ *testing.T, _ *observed, cancel func()) { cancel() },
			want:  []string{opened, "stream-ended watch 200 client", closed},
		},
		{
			name: "recycled", server: serverOptions{handler: stalling},
			fault: func(_ *testing.T, o *observed, _ func()) { o.tr.Recycle() },
			want:  []string{opened, "connection-closed recycled", "stream-ended watch 200 recycled"},
		},
		{
			name: "asked", server: serverOptions{handler: stalling},
			fault: func(t *testing.T, o *observed, _ func()) {
				if n := o.tr.EndStreams(podKind); n != 1 {
					t.Errorf("%d watches were ended, want 1", n)
				}
			},
			want: []string{opened, "stream-ended watch 200 asked", closed},
		},
		{
			name: "connection", server: serverOptions{handler: stalling},
			fault: func(_ *testing.T, o *observed, _ func()) { o.server.close() },
			want:  []string{opened, closed, "stream-ended watch 200 connection"},
		},
		{
			name: "HTTP/1.1 connection", server: serverOptions{handler: stalling, http1: true},
			fault: func(_ *testing.T, o *observed, _ func()) { o.server.close() },
			want:  []string{opened, closed, "stream-ended watch 200 connection"},
		},
		{name: "idle", path: podsPath + "?watch=true", server: serverOptions{handler: stalling}, want: []string{opened, "stream-ended watch 200 idle", closed}},
		{
			name: "age", server: serverOptions{handler: stalling}, opts: transport.Options{IdleTimeout: time.Hour},
			want: []string{opened, "stream-ended watch 200 age", closed},
		},
		{
			name: "renewed", server: serverOptions{handler: stalling}, opts: transport.Options{IdleTimeout: time.Hour},
			path: podsPath + "?watch=true&sendInitialEvents=true", want: []string{opened, "stream-ended watch 200 renewed", closed},
		},
		{
			name: "stalled", path: podsPath, server: serverOptions{handler: stalling},
			want: []string{opened, "stream-ended list 200 stalled", closed},
		},
		{name: "headers", server: serverOptions{handler: mute}, want: []string{opened, "stream-ended watch 0 headers", closed}},
		{
			name: "deaf connection", server: serverOptions{handler: mute}, again: true,
			want: []string{opened, "stream-ended watch 0 headers", "connection-closed headers", "stream-ended watch 0 headers"},
		},
		{
			name: "no connection", fault: func(_ *testing.T, o *observed, _ func()) { o.down.Store(true); o.tr.Recycle() }, again: true,
			want: []string{opened, "stream-ended watch 200 server", "connection-closed recycled", "dial-failed", "stream-ended watch 0 connection"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := observeServer(t, tt.opts, tt.server)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				path := tt.path
				if path == "" {
					path = watchPath
				}
				var reader sync.WaitGroup
				reader.Go(func() { o.ask(ctx, t, path) })
				pass(10 * time.Second)
				if tt.fault != nil {
					tt.fault(t, o, cancel)
				}
				if tt.again {
					pass(time.Minute)
					reader.Go(func() { o.ask(ctx, t, path) })
				}
				pass(10 * time.Minute)
				reader.Wait()
				if diff := cmp.Diff(tt.want, o.said()); diff != "" {
					t.Errorf("observed (-want +got):\n%s", diff)
				}
				checkEvents(t, o.all())
			})
		})
	}
}

// checkEvents checks what holds for all events.
func checkEvents(t *testing.T, events []transport.Event) {
	t.Helper()
	var last time.Time
	for _, e := range events {
		s, c := e.Stream, e.Connection
		switch {
		case e.Time.Before(last):
			t.Errorf("%v at %v comes after an event of %v", e.Type, e.Time, last)
		case e.Type == transport.StreamEnded && (s.GVR != podKind || s.Status != e.Status || s.Answered.IsZero() != (e.Status == 0)):
			t.Errorf("stream %+v of %+v", s, e)
		case e.Type == transport.StreamEnded && e.Status != 0 && (s.Local == "" || s.Remote == "" || s.Protocol == ""):
			t.Errorf("no connection of %+v", s)
		case e.Type == transport.ConnectionOpened && (c.Local == "" || c.Remote == "" || c.Opened != e.Time || c.Requests != 0 || c.Watches != 0):
			t.Errorf("opened: %+v", c)
		case e.Type == transport.ConnectionClosed && (c.Local == "" || c.Remote == "" || c.Opened.IsZero()):
			t.Errorf("closed: %+v", c)
		case e.Type == transport.DialFailed && c.Remote != "api.test:443":
			t.Errorf("dial of %q failed", c.Remote)
		}
		last = e.Time
	}
}
