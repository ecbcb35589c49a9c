// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/transport"
)

// muteWatches is a server that sends headers of watches and nothing else, and then no
// answer to a PING either.
type muteWatches struct {
	*notes
	server *frameServer
	tr     *transport.Transport
	client *http.Client
}

func startMuteWatches(t *testing.T) *muteWatches {
	t.Helper()
	network := newMemoryNetwork()
	m := &muteWatches{notes: &notes{}, server: startFrameServer(t, network.listen("api.test:443"), newAuthority(t, "authority"))}
	cfg := m.server.config()
	cfg.Dial = network.dial
	m.tr = wrap(t, cfg, transport.Options{Observer: m.observe, IdleTimeout: time.Hour, MaxWatch: time.Hour})
	m.client = clientFor(t, cfg)
	return m
}

// open sends a watch.
func (m *muteWatches) open(t *testing.T) io.Reader {
	t.Helper()
	return open(t, m.client, m.server.url+"/api/v1/namespaces/default/log?watch=true")
}

// TestObserverOfALostPing shows that the end of a connection has its cause, which
// net/http tells to the streams alone.
func TestObserverOfALostPing(t *testing.T) {
	t.Run("read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := startMuteWatches(t)
			var readers sync.WaitGroup
			for range 3 {
				body := m.open(t)
				readers.Go(func() { _, _ = io.Copy(io.Discard, body) })
			}
			synctest.Wait()
			if got := m.tr.Connections(); len(got) != 1 || got[0].Watches != 3 || got[0].Requests != 3 || got[0].Protocol != "HTTP/2.0" {
				t.Errorf("connections: %+v", got)
			}
			m.server.silence()
			pass(time.Minute)
			readers.Wait()
			want := []string{
				"connection-opened", "connection-closed ping",
				"stream-ended watch 200 ping", "stream-ended watch 200 ping", "stream-ended watch 200 ping",
			}
			if diff := cmp.Diff(want, m.said()); diff != "" {
				t.Errorf("observed (-want +got):\n%s", diff)
			}
			closed := slices.IndexFunc(m.all(), func(e transport.Event) bool { return e.Type == transport.ConnectionClosed })
			if got := m.all()[closed].Connection; got.Watches != 3 {
				t.Errorf("it was closed with 3 watches, which may end first: %+v", got)
			}
			if got := m.tr.Connections(); len(got) != 0 {
				t.Errorf("connections are left: %+v", got)
			}
		})
	})
	t.Run("not read: the end is told, and with the streams, but not the cause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := startMuteWatches(t)
			body := m.open(t)
			m.server.silence()
			pass(time.Minute)
			if diff := cmp.Diff([]string{"connection-opened", "connection-closed connection"}, m.said()); diff != "" {
				t.Errorf("observed (-want +got):\n%s", diff)
			}
			closed, took := m.all()[1], transport.DefaultReadIdleTimeout+transport.DefaultPingTimeout
			if got := closed.Time.Sub(closed.Connection.Opened); got != took || closed.Connection.Watches != 1 {
				t.Errorf("closed after %v, want %v: %+v", got, took, closed.Connection)
			}
			_, _ = io.Copy(io.Discard, body)
			if got := m.said(); got[len(got)-1] != "stream-ended watch 200 ping" {
				t.Errorf("observed: %q", got)
			}
		})
	})
	t.Run("without streams", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := startMuteWatches(t)
			get(t, m.client, m.server.url+"/version")
			m.server.silence()
			pass(time.Minute)
			if diff := cmp.Diff([]string{"connection-opened", "connection-closed connection"}, m.said()); diff != "" {
				t.Errorf("observed (-want +got):\n%s", diff)
			}
		})
	})
}
