// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// expect reads as many responses as are wanted and compares them.
func (c *etcdClient) expect(t *testing.T, want ...response) {
	t.Helper()
	var got []response
	for range want {
		got = append(got, c.next(t))
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(response{})); diff != "" {
		t.Fatalf("responses (-want +got):\n%s", diff)
	}
}

func startEtcd(t *testing.T, keys ...string) (*faultproxy.Etcd, *etcdClient, *fakeCall) {
	t.Helper()
	f := newFakeEtcd(t)
	p := newEtcd(t, f.url)
	c := watchEtcd(t, p, keys...)
	return p, c, <-f.calls
}

func TestEtcdPassesWhatItHasNoFaultFor(t *testing.T) {
	p, c, s := startEtcd(t, "/registry/a", "/registry/b")
	event, progress := response{id: 1, revision: 7, keys: "b"}, response{id: -1, revision: 8}
	s.send(t, event, progress)
	c.expect(t, event, progress)
	got := p.Watches()
	want := []faultproxy.EtcdWatch{
		{Stream: 1, ID: 0, Key: "/registry/a", Progress: 1, Revision: 8},
		{Stream: 1, ID: 1, Key: "/registry/b", Events: 1, Progress: 1, Revision: 8},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("watches (-want +got):\n%s", diff)
	}
	close(s.end)
	if got := c.status(t); got != "0" {
		t.Errorf("status %q", got)
	}
	eventually(t, "the watches to be gone", func() bool { return len(p.Watches()) == 0 })
}

func TestEtcdUnaryCallsPassWhileWatchesAreFrozen(t *testing.T) {
	f := newFakeEtcd(t)
	p := newEtcd(t, f.url)
	p.FreezeWatches("")
	for _, tr := range []http.RoundTripper{newH2C(t), &http.Transport{DisableKeepAlives: true}} {
		req, err := http.NewRequestWithContext(patient(t), http.MethodPost, p.URL()+"/etcdserverpb.KV/Range", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(got) != "body" || resp.Trailer.Get("Grpc-Status") != "0" {
			t.Errorf("%s: %q, %v, trailers %v", resp.Proto, got, err, resp.Trailer)
		}
	}
}

func TestEtcdOverTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	conf := server.Client().Transport.(*http.Transport).TLSClientConfig
	p, err := faultproxy.NewEtcd(server.URL, faultproxy.EtcdOptions{TLS: &tls.Config{RootCAs: conf.RootCAs}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	req, err := http.NewRequestWithContext(patient(t), http.MethodPost, p.URL()+"/etcdserverpb.KV/Range", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := newH2C(t).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != "HTTP/2.0" {
		t.Errorf("the server was spoken to in %q, %v", got, err)
	}
}

func TestFreezeWatchesOfOnePrefix(t *testing.T) {
	p, c, s := startEtcd(t, "/registry/a", "/registry/b")
	inj := p.FreezeWatches("/registry/a")
	s.send(t,
		response{id: 0, revision: 5, keys: "a"}, // withheld
		response{id: 1, revision: 6, keys: "b"},
		response{id: 0, revision: 7},  // progress, withheld
		response{id: -1, revision: 8}) // progress for all: not for the frozen one
	c.expect(t, response{id: 1, revision: 6, keys: "b"}, response{id: 1, revision: 8})
	if got := inj.Hits(); got != 3 {
		t.Errorf("%d messages were withheld, want 3", got)
	}
	c.create(t, "/registry/a2") // one more, frozen from its start
	c.expect(t, response{id: 2, created: true})
	s.send(t, response{id: 2, revision: 9, keys: "a"}, response{id: 1, revision: 10, keys: "b"})
	c.expect(t, response{id: 1, revision: 10, keys: "b"})

	inj.Lift()
	if got := c.status(t); got != "14" {
		t.Errorf("after the lift the call ended with status %q, want 14 (unavailable)", got)
	}
	select {
	case <-s.gone:
	case <-patient(t).Done():
		t.Error("the server's end is still open")
	}
}

// A stream without frozen watches lives through the lift.
func TestFreezeLeavesOtherStreamsAlone(t *testing.T) {
	p, c, s := startEtcd(t, "/registry/b")
	p.FreezeWatches("/registry/a").Lift()
	event := response{id: 0, revision: 5, keys: "b"}
	s.send(t, event)
	c.expect(t, event)
}

func TestHoldWatchesDeliversInTheEnd(t *testing.T) {
	p, c, s := startEtcd(t, "/registry/a", "/registry/b")
	inj := p.HoldWatches("/registry/a")
	first, second, other := response{id: 0, revision: 5, keys: "a"}, response{id: 0, revision: 6, keys: "a"}, response{id: 1, revision: 7, keys: "b"}
	s.send(t, first, second, response{id: -1, revision: 7}, other)
	c.expect(t, response{id: 1, revision: 7}, other)
	inj.Lift()
	c.expect(t, first, second)
	third := response{id: 0, revision: 8, keys: "a"}
	s.send(t, third)
	c.expect(t, third)
}

func TestEtcdDropEvents(t *testing.T) {
	p, c, s := startEtcd(t, "/registry/")
	inj := p.DropEvents("/registry/a", 2)
	s.send(t,
		response{id: 0, revision: 5, keys: "bac"}, // one of three
		response{id: 0, revision: 6, keys: "a"},   // the only one
		response{id: 0, revision: 7, keys: "a"},   // one too many
		response{id: -1, revision: 8})
	c.expect(t,
		response{id: 0, revision: 5, keys: "bc"},
		response{id: 0, revision: 7, keys: "a"},
		response{id: -1, revision: 8})
	if got := inj.Hits(); got != 2 {
		t.Errorf("%d events were dropped, want 2", got)
	}
	inj.Lift()
	all := p.DropEvents("", 0)
	s.send(t, response{id: 0, revision: 9, keys: "xyz"}, response{id: 0, revision: 10})
	c.expect(t, response{id: 0, revision: 10})
	if got := all.Hits(); got != 3 {
		t.Errorf("%d events were dropped, want 3", got)
	}
}

func TestEtcdDelay(t *testing.T) {
	const delay = 60 * time.Millisecond
	p, c, s := startEtcd(t, "/registry/a", "/registry/b")
	inj := p.Delay("/registry/a", delay)
	start := time.Now()
	slow, quick := response{id: 0, revision: 5, keys: "a"}, response{id: 1, revision: 6, keys: "b"}
	s.send(t, slow, response{id: -1, revision: 6}, quick)
	// Progress must not overtake the event; for the other watch it does not wait.
	c.expect(t, response{id: 1, revision: 6}, quick, slow, response{id: 0, revision: 6})
	if took := time.Since(start); took < delay {
		t.Errorf("the slow watch took %v, want at least %v", took, delay)
	}
	if got := inj.Hits(); got != 2 {
		t.Errorf("%d messages were delayed, want 2", got)
	}
	s.send(t, slow)
	if err := inj.WaitHits(patient(t), 3); err != nil { // it is under way
		t.Fatal(err)
	}
	inj.Lift()
	s.send(t, response{id: 0, revision: 7, keys: "a"})
	c.expect(t, slow, response{id: 0, revision: 7, keys: "a"}) // in order, whatever the delays
}

// What is withheld is taken off the connection: other calls go on.
func TestFrozenWatchDoesNotBlockOthers(t *testing.T) {
	f := newFakeEtcd(t)
	p := newEtcd(t, f.url)
	watchEtcd(t, p, "/registry/a")
	frozen := <-f.calls
	c := watchEtcd(t, p, "/registry/b")
	s := <-f.calls
	inj := p.FreezeWatches("/registry/a")
	big := response{id: 0, revision: 5, keys: strings.Repeat("a", 20_000)}
	const messages = 15 // 6 MB, more than the window of a stream
	for range messages {
		frozen.send(t, big)
	}
	if err := inj.WaitHits(patient(t), messages); err != nil {
		t.Fatal(err)
	}
	event := response{id: 0, revision: 5, keys: "b"}
	s.send(t, event)
	c.expect(t, event)
}

// A watch that the client cancels is confirmed even while it is frozen, and is a watch no more.
func TestCanceledWatch(t *testing.T) {
	p, c, s := startEtcd(t, "/registry/a", "/registry/b")
	p.FreezeWatches("/registry/a")
	cancel := bytesField(nil, 2, varintField(nil, 1, 0))
	if _, err := c.requests.Write(grpcMessage(cancel)); err != nil {
		t.Fatal(err)
	}
	c.expect(t, response{id: 2, created: true}) // the fake takes every request for one of a watch
	canceled := response{id: 0, revision: 5, canceled: true}
	s.send(t, canceled)
	c.expect(t, canceled)
	gone := func(w faultproxy.EtcdWatch) bool { return w.ID == 0 }
	if slices.ContainsFunc(p.Watches(), gone) {
		t.Errorf("watches %+v, want the first gone", p.Watches())
	}
}

func TestEtcdRecord(t *testing.T) {
	p, _, _ := startEtcd(t)
	p.Delay("", time.Second).Lift()
	record := p.Record()
	if len(record) != 2 || record[0].Fault != "Delay" || record[0].Target != "all keys by 1s" || record[1].Action != faultproxy.Lifted {
		t.Errorf("record %+v", record)
	}
}

func TestNewEtcdValidates(t *testing.T) {
	for _, url := range []string{"127.0.0.1:2379", "ftp://127.0.0.1:1", "http://", "http://\x7f"} {
		if _, err := faultproxy.NewEtcd(url, faultproxy.EtcdOptions{}); err == nil || !strings.Contains(err.Error(), "targetURL") {
			t.Errorf("%q: error %v, want one that names targetURL", url, err)
		}
	}
}
