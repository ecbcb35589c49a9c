// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"golang.org/x/net/http2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

var configMapLists = faultproxy.Match{Verb: "list", Group: "core", Resource: "configmaps"}

// impatient is a client that does not repeat requests by itself, as client-go does after a Retry-After.
func impatient(t *testing.T, cfg *rest.Config) func(ctx context.Context, path string) error {
	t.Helper()
	c := newClient(t, cfg)
	return func(ctx context.Context, path string) error {
		return c.CoreV1().RESTClient().Get().AbsPath(path).MaxRetries(0).Do(ctx).Error()
	}
}

func TestStatus(t *testing.T) {
	for _, tc := range []struct {
		fault  faultproxy.Status
		code   int
		reason metav1.StatusReason
		retry  int32
	}{
		{faultproxy.Status{}, 500, metav1.StatusReasonInternalError, 0},
		{faultproxy.Status{Code: 401}, 401, metav1.StatusReasonUnauthorized, 0},
		{faultproxy.Status{Code: 403}, 403, metav1.StatusReasonForbidden, 0},
		{faultproxy.Status{Code: 404}, 404, metav1.StatusReasonNotFound, 0},
		{faultproxy.Status{Code: 409}, 409, metav1.StatusReasonConflict, 0},
		{faultproxy.Status{Code: 410}, 410, metav1.StatusReasonExpired, 0},
		{faultproxy.Status{Code: 429}, 429, metav1.StatusReasonTooManyRequests, 1},
		{faultproxy.Status{Code: 429, RetryAfter: 1500 * time.Millisecond}, 429, metav1.StatusReasonTooManyRequests, 2},
		{faultproxy.Status{Code: 503, Message: "gone fishing"}, 503, metav1.StatusReasonServiceUnavailable, 0},
		{faultproxy.Status{Code: 504, RetryAfter: time.Second}, 504, metav1.StatusReasonTimeout, 1},
	} {
		t.Run(string(tc.reason), func(t *testing.T) {
			f := newFakeAPI(t)
			p := newAPI(t, f.config(), faultproxy.APIOptions{})
			get := impatient(t, p.Config(f.config()))
			inj := p.Inject(faultproxy.Match{Times: 1}, tc.fault)
			err := get(patient(t), "/api/v1/configmaps")
			var status interface{ Status() metav1.Status }
			if !errors.As(err, &status) {
				t.Fatalf("error %v, want a Status", err)
			}
			s := status.Status()
			if int(s.Code) != tc.code || s.Reason != tc.reason || s.Details.RetryAfterSeconds != tc.retry {
				t.Errorf("code %d, reason %s, retry after %d s", s.Code, s.Reason, s.Details.RetryAfterSeconds)
			}
			if tc.fault.Message != "" && s.Message != tc.fault.Message {
				t.Errorf("message %q", s.Message)
			}
			if len(f.requests()) != 0 || inj.Hits() != 1 {
				t.Errorf("the server saw %d requests; %d hits", len(f.requests()), inj.Hits())
			}
			if err := get(patient(t), "/api/v1/configmaps"); err != nil {
				t.Errorf("the request after it: %v", err)
			}
		})
	}
}

// A 429 makes client-go wait and try again by itself.
func TestStatusSendsRetryAfter(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	c := newClient(t, p.Config(f.config()))
	inj := p.Inject(faultproxy.Match{Times: 1}, faultproxy.Status{Code: 429})
	start := time.Now()
	if _, err := c.CoreV1().ConfigMaps("").List(patient(t), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < time.Second || inj.Hits() != 1 {
		t.Errorf("succeeded after %v, want at least the second it was told to wait; %d hits", took, inj.Hits())
	}
}

func TestMatchAfterTimesFor(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	get := impatient(t, p.Config(f.config()))
	codes := func(n int) []int {
		var out []int
		for range n {
			out = append(out, statusCode(get(patient(t), "/api/v1/configmaps")))
		}
		return out
	}
	m := configMapLists
	m.After, m.Times = 1, 2
	p.Inject(m, faultproxy.Status{Code: 503})
	got := codes(4)
	if want := [4]int{0, 503, 503, 0}; [4]int(got) != want {
		t.Errorf("statuses %v, want %v", got, want)
	}
	brief := configMapLists
	brief.For = time.Millisecond
	inj := p.Inject(brief, faultproxy.Status{Code: 500})
	<-inj.Done()
	if got := codes(1); got[0] != 0 {
		t.Errorf("status %d after the time is over", got[0])
	}
	record := p.Record()
	if last := record[len(record)-1]; last.Action != faultproxy.Expired || last.Injection != 2 {
		t.Errorf("the record ends with %+v, want that the second injection expired", last)
	}
}

func TestHangList(t *testing.T) {
	f := newFakeAPI(t, "a")
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	c := newClient(t, p.Config(f.config()))
	inj := p.Inject(configMapLists, faultproxy.HangList{})
	done := make(chan error, 1)
	go func() {
		_, err := c.CoreV1().ConfigMaps("").List(patient(t), metav1.ListOptions{})
		done <- err
	}()
	if err := inj.WaitHits(patient(t), 1); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		t.Fatalf("the list returned: %v", err)
	case <-time.After(glance):
	}
	for _, r := range f.requests() {
		if r.URL.Path == "/api/v1/configmaps" {
			t.Error("the server has seen the list")
		}
	}
	inj.Lift()
	if err := <-done; err != nil {
		t.Errorf("after the lift: %v", err)
	}
}

// A client that gives a hung list up is gone from the proxy, too.
func TestHangListEndsWithItsClient(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	get := impatient(t, p.Config(f.config()))
	inj := p.Inject(configMapLists, faultproxy.HangList{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_ = inj.WaitHits(ctx, 1)
		cancel()
	}()
	if err := get(ctx, "/api/v1/configmaps"); err == nil {
		t.Error("the list succeeded")
	}
	eventually(t, "the request to end", func() bool { return p.Counts(configMapLists).Open == 0 })
	if got := p.Counts(configMapLists).Responses; got[0] != 1 {
		t.Errorf("responses %v, want one without a status", got)
	}
}

func TestHoldHeaders(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	c := newClient(t, p.Config(f.config()))
	open := func() <-chan error {
		done := make(chan error, 1)
		go func() {
			w, err := c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
			if err == nil {
				w.Stop()
			}
			done <- err
		}()
		return done
	}
	held := func(done <-chan error) {
		t.Helper()
		select {
		case err := <-done:
			t.Fatalf("the watch was answered: %v", err)
		case <-time.After(glance):
		}
	}

	inj := p.Inject(configMapWatches, faultproxy.HoldHeaders{})
	done := open()
	s := f.next(t)
	s.send(t, modified("a", "1"))
	held(done)
	inj.Lift()
	if err := <-done; err != nil {
		t.Errorf("after the lift: %v", err)
	}

	p.Inject(configMapWatches, faultproxy.HoldHeaders{UntilFirstByte: true})
	done = open()
	s = f.next(t)
	held(done)
	s.send(t, modified("a", "1"))
	if err := <-done; err != nil {
		t.Errorf("after the first event: %v", err)
	}
}

func TestDelay(t *testing.T) {
	const delay = 80 * time.Millisecond
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	c := newClient(t, p.Config(f.config()))
	p.Inject(faultproxy.Match{}, faultproxy.Delay{D: delay})
	start := time.Now()
	w := c.watch(t, metav1.ListOptions{})
	if took := time.Since(start); took < delay {
		t.Errorf("the watch was answered after %v, want at least %v", took, delay)
	}
	s := f.next(t)
	start = time.Now()
	s.send(t, modified("a", "1"), modified("a", "2"), modified("a", "3"))
	for range 3 {
		w.next(t)
	}
	// Three events that are delayed one after the other would take three delays; that they do not is a measure of time, and
	// is left to the benchmark of a person.
	if took := time.Since(start); took < delay {
		t.Errorf("the events arrived after %v, want at least %v", took, delay)
	}
}

func TestTrickle(t *testing.T) {
	f := newFakeAPI(t, "a", "b", "c", "d")
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	get := impatient(t, p.Config(f.config()))
	if err := get(patient(t), "/api/v1/configmaps"); err != nil {
		t.Fatal(err)
	}
	size := p.Counts(configMapLists).BytesDown
	p.Inject(configMapLists, faultproxy.Trickle{BytesPerSecond: size * 4}) // a quarter of a second
	start := time.Now()
	if err := get(patient(t), "/api/v1/configmaps"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 200*time.Millisecond { // the first portion does not wait
		t.Errorf("%d bytes took %v, want about 250ms", size, took)
	}
}

// connections returns the local addresses that so many lists come from.
func connections(t *testing.T, c *client, lists int) []string {
	t.Helper()
	var out []string
	for range lists {
		trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
			if a := i.Conn.LocalAddr().String(); len(out) == 0 || out[len(out)-1] != a {
				out = append(out, a)
			}
		}}
		ctx := httptrace.WithClientTrace(patient(t), trace)
		if _, err := c.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestGoAwayMovesClientsAndKeepsStreams(t *testing.T) {
	for _, http1 := range []bool{false, true} {
		f := newFakeAPI(t)
		p := newAPI(t, f.config(), faultproxy.APIOptions{HTTP1Only: http1})
		c := newClient(t, p.Config(f.config()))
		w := c.watch(t, metav1.ListOptions{})
		s := f.next(t)
		before := connections(t, c, 1)
		inj := p.Inject(faultproxy.Match{Times: 1}, faultproxy.GoAway{})
		if inj.Hits() != 1 {
			t.Errorf("HTTP1Only %v: %d connections were told to go, want 1", http1, inj.Hits())
		}
		if !http1 { // with HTTP/1.1 the watch has a connection of its own
			eventually(t, "requests on another connection", func() bool { return connections(t, c, 1)[0] != before[0] })
		}
		s.send(t, modified("a", "1"))
		if got := w.rv(t); got != "MODIFIED 1" {
			t.Errorf("HTTP1Only %v: the stream got %s", http1, got)
		}
	}
}

func TestGoAwayOnTheWire(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	w := dialWire(t, p)
	w.get(t, "/api/v1/configmaps?watch=1")
	s := f.next(t)
	w.until(t, http2.FrameHeaders)
	p.Inject(configMapWatches, faultproxy.GoAway{})
	w.until(t, http2.FrameGoAway)
	s.send(t, modified("a", "1"))
	w.until(t, http2.FrameData) // the stream goes on
}

func TestGoAwayEvery(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	c := newClient(t, p.Config(f.config()))
	inj := p.Inject(configMapLists, faultproxy.GoAway{Every: 5})
	used := connections(t, c, 20)
	// The client may send a few more before it has read the frame.
	if got := inj.Hits(); got < 2 || got > 4 || len(used) < 2 {
		t.Errorf("20 requests: %d connections were told to go, %d were used", got, len(used))
	}
}

func TestUpgradesAreRefused(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{HTTP1Only: true})
	c := newClient(t, p.Config(f.config()))
	req, err := http.NewRequestWithContext(patient(t), http.MethodPost, p.URL()+"/api/v1/namespaces/n/pods/p/exec", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "SPDY/3.1")
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotImplemented {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestRecord(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	get := impatient(t, p.Config(f.config()))
	inj := p.Inject(configMapLists, faultproxy.Status{Code: 503})
	_ = get(patient(t), "/api/v1/configmaps")
	inj.Lift()
	inj.Lift()
	record := p.Record()
	if len(record) != 2 {
		t.Fatalf("%d entries, want 2: %+v", len(record), record)
	}
	set, lifted := record[0], record[1]
	if set.Action != faultproxy.Injected || set.Injection != 1 || set.Hits != 0 ||
		set.Target != "verb=list group=core resource=configmaps" || set.Fault != inj.String()[:len(set.Fault)] {
		t.Errorf("first entry %+v", set)
	}
	if lifted.Action != faultproxy.Lifted || lifted.Hits != 1 || lifted.Time.Before(set.Time) {
		t.Errorf("second entry %+v", lifted)
	}
}
