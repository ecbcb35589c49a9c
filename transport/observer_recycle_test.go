// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/freshwatch/freshwatch/transport"
)

// TestConnections has two watches and a list over one connection, and a watch over
// another.
func TestConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observeServer(t, transport.Options{}, serverOptions{handler: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "" {
				stalling(w, r)
			}
			send(w, "ok")
		}})
		if got := o.tr.Connections(); len(got) != 0 {
			t.Errorf("connections before any request: %+v", got)
		}
		begin := time.Now()
		for range 2 {
			if got, err := readSome(open(t, o.client, o.server.url+watchPath)); err != nil || got == "" {
				t.Fatalf("read %q, %v", got, err)
			}
		}
		pass(time.Second)
		get(t, o.client, o.server.url+podsPath)
		o.client.CloseIdleConnections() // has no effect: watches are on it
		local := cmpopts.IgnoreFields(transport.Connection{}, "Local")
		want := []transport.Connection{{Remote: "api.test:443", Opened: begin, Protocol: "HTTP/2.0", LastByte: begin.Add(time.Second), Watches: 2, Requests: 3}}
		if diff := cmp.Diff(want, o.tr.Connections(), local); diff != "" {
			t.Errorf("connections (-want +got):\n%s", diff)
		}
		var reused []bool
		for _, s := range o.tr.Streams() {
			reused = append(reused, s.Reused)
			if s.Status != http.StatusOK || !s.Answered.Equal(begin) {
				t.Errorf("stream %+v, want one that was answered at %v", s, begin)
			}
		}
		if diff := cmp.Diff(map[bool]int{false: 1, true: 1}, count(reused)); diff != "" {
			t.Errorf("reused connections (-want +got):\n%s", diff)
		}
		o.server.close()
		pass(time.Minute)
		if got := o.tr.Connections(); len(got) != 0 {
			t.Errorf("connections at the end: %+v", got)
		}
	})
}

func count(v []bool) map[bool]int {
	out := map[bool]int{}
	for _, b := range v {
		out[b]++
	}
	return out
}

// TestObserverOfA401 says over which connection it came, where that is looked at.
func TestObserverOfA401(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observeServer(t, transport.Options{}, serverOptions{handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		}})
		for _, path := range []string{podPath, podPath, watchPath} {
			get(t, o.client, o.server.url+path)
		}
		type refused struct {
			Status int
			Verb   string
			Known  bool
		}
		var got []refused
		for _, e := range o.all() {
			if e.Type == transport.Refused {
				got = append(got, refused{e.Status, e.Verb, e.Connection.Remote != "" && !e.Connection.Opened.IsZero()})
				if isWatch := e.Stream.GVR == podKind; isWatch != (e.Verb == "watch") {
					t.Errorf("%+v", e)
				}
			}
		}
		if diff := cmp.Diff([]refused{{401, "", false}, {401, "", true}, {401, "watch", true}}, got); diff != "" {
			t.Errorf("refused (-want +got):\n%s", diff)
		}
	})
}

// TestObserverOfAForgottenConnection has one that nobody reads from, nor closes.
func TestObserverOfAForgottenConnection(t *testing.T) {
	srv, n := startServer(t, serverOptions{}), &notes{}
	cfg := srv.config()
	tr := wrap(t, cfg, transport.Options{Observer: n.observe})
	conn, err := cfg.Dial(t.Context(), "tcp", strings.TrimPrefix(srv.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.Recycle(); got != 1 {
		t.Errorf("%d connections were recycled, want 1", got)
	}
	if diff := cmp.Diff([]string{"connection-opened", "connection-closed recycled"}, n.said()); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
	conn.Close()
	if diff := cmp.Diff([]string{"connection-opened", "connection-closed recycled"}, n.said()); diff != "" {
		t.Errorf("observed after it was closed, too (-want +got):\n%s", diff)
	}
}

// TestObserverOfARetry has net/http send a list again over another connection, since the
// first was closed under it: that one's end is not lost.
func TestObserverOfARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		o := observeServer(t, transport.Options{}, serverOptions{http1: true, handler: func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked != 2 {
				return
			}
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				conn.Close()
			}
		}})
		get(t, o.client, o.server.url+podsPath)
		get(t, o.client, o.server.url+podsPath)
		o.server.close()
		pass(time.Minute)
		want := map[string]int{"connection-opened": 2, "connection-closed connection": 2, "stream-ended list 200 server": 2}
		got := map[string]int{}
		for _, said := range o.said() {
			got[said]++
		}
		if diff := cmp.Diff(want, got); diff != "" || asked != 3 {
			t.Errorf("asked %d times, want 3; observed (-want +got):\n%s", asked, diff)
		}
	})
}

// TestObserverOfARecycle has real sockets, and connections that are recycled while
// requests begin and end over them: no connection and no stream is lost, none is told
// twice.
func TestObserverOfARecycle(t *testing.T) {
	srv := startServer(t, serverOptions{handler: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "watch=true" {
			stalling(w, r)
		}
	}})
	n, cfg := &notes{}, srv.config()
	tr := wrap(t, cfg, transport.Options{Observer: n.observe})
	const workers, rounds = 40, 3 // a watch that ends too soon is held for a second
	clients := []*http.Client{clientFor(t, cfg), clientFor(t, cfg)}
	stop := make(chan struct{})
	var working, recycling sync.WaitGroup
	for i := range workers {
		working.Go(func() {
			client := clients[i%len(clients)]
			for range rounds {
				if resp, err := client.Do(newRequest(t.Context(), t, http.MethodGet, srv.url+podsPath+"?watch=true", http.NoBody)); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				_, _, _ = try(t, client, srv.url+podsPath)
			}
		})
	}
	recycled := 0
	recycling.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				recycled += tr.Recycle()
			}
		}
	})
	working.Wait()
	close(stop)
	recycling.Wait()
	recycled += tr.Recycle()
	checkRecycled(t, n.all(), recycled, 2*workers*rounds)
	if left := tr.Connections(); len(left) != 0 {
		t.Errorf("connections are left: %+v", left)
	}
}

// checkRecycled wants each connection opened and closed once, in this order, so many
// recycled, and so many streams ended.
func checkRecycled(t *testing.T, events []transport.Event, recycled, streams int) {
	t.Helper()
	open := map[string]bool{}
	name := func(c transport.Connection) string { return c.Local + " " + c.Remote + " " + c.Opened.String() }
	for _, e := range events {
		switch e.Type {
		case transport.ConnectionOpened:
			open[name(e.Connection)] = true
		case transport.ConnectionClosed:
			if !open[name(e.Connection)] {
				t.Errorf("closed twice, or before it was opened: %+v", e.Connection)
			}
			delete(open, name(e.Connection))
			if e.Reason == transport.EndedRecycled {
				recycled--
			}
		case transport.StreamEnded:
			streams--
		case transport.Refused, transport.DialFailed:
		}
	}
	if len(open) != 0 || recycled != 0 || streams != 0 {
		t.Errorf("still to be told: the end of %d connections, of which %d recycled, and of %d streams", len(open), recycled, streams)
	}
}
