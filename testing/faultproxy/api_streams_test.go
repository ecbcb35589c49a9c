// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

var configMapWatches = faultproxy.Match{Verb: "watch", Group: "core", Resource: "configmaps"}

func TestSilenceKillsOpenStreams(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			f, p, c := format.start(t)
			dead := c.watch(t, metav1.ListOptions{})
			deadServer := f.next(t)
			other := c.watchIn(t, "other", metav1.ListOptions{})
			otherServer := f.next(t)
			deadServer.send(t, modified("a", "1"))
			dead.next(t)

			m := configMapWatches
			m.Times = 1 // the oldest
			inj := p.Inject(m, faultproxy.Silence{OnlyOpen: true})
			if inj.Hits() != 1 {
				t.Fatalf("%d streams were silenced, want 1", inj.Hits())
			}
			deadServer.send(t, modified("a", "2"))
			otherServer.send(t, modified("b", "3"))
			if got := other.rv(t); got != "MODIFIED 3" {
				t.Errorf("the stream beside it got %s", got)
			}
			dead.quiet(t)

			fresh := c.watch(t, metav1.ListOptions{})
			f.next(t).send(t, modified("a", "4"))
			if got := fresh.rv(t); got != "MODIFIED 4" {
				t.Errorf("a new stream got %s", got)
			}

			inj.Lift()
			deadServer.send(t, modified("a", "5"))
			close(deadServer.end)
			dead.quiet(t) // neither the events, nor the end
		})
	}
}

func TestSilenceOnlyOpen(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	c := newClient(t, p.Config(f.config()))
	p.Inject(configMapWatches, faultproxy.Silence{OnlyOpen: true})
	w := c.watch(t, metav1.ListOptions{})
	f.next(t).send(t, modified("a", "1"))
	if got := w.rv(t); got != "MODIFIED 1" {
		t.Errorf("a stream opened after the injection got %s", got)
	}
}

func TestSilenceHitsNewStreamsToo(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			f, p, c := format.start(t)
			inj := p.Inject(configMapWatches, faultproxy.Silence{})
			w := c.watch(t, metav1.ListOptions{}) // returns: the headers are not silenced
			f.next(t).send(t, modified("a", "1"))
			w.quiet(t)
			if _, err := c.CoreV1().ConfigMaps("").List(patient(t), metav1.ListOptions{}); err != nil {
				t.Errorf("list: %v, want it untouched", err)
			}
			inj.Lift()
			w.quiet(t)
			fresh := c.watch(t, metav1.ListOptions{})
			f.next(t).send(t, modified("a", "2"))
			if got := fresh.rv(t); got != "MODIFIED 2" {
				t.Errorf("a stream opened after the lift got %s", got)
			}
		})
	}
}

// A client that gives a silenced stream up frees the API server's end as well.
func TestSilencedStreamEndsWithItsClient(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	w := newClient(t, p.Config(f.config())).watch(t, metav1.ListOptions{})
	s := f.next(t)
	p.Inject(configMapWatches, faultproxy.Silence{})
	w.Stop()
	select {
	case <-s.gone:
	case <-patient(t).Done():
		t.Error("the server's stream is still open")
	}
}

func TestPingsAreAnsweredBesideASilentStream(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	w := dialWire(t, p)
	w.get(t, "/api/v1/configmaps?watch=1")
	s := f.next(t)
	w.until(t, http2.FrameHeaders)
	inj := p.Inject(configMapWatches, faultproxy.Silence{})
	s.send(t, modified("a", "1"))
	close(s.end)
	for range 3 {
		w.ping(t)
		for _, seen := range w.until(t, http2.FramePing) {
			if seen == http2.FrameData || seen == http2.FrameRSTStream || seen == http2.FrameHeaders {
				t.Errorf("a %v frame came on the silenced stream", seen)
			}
		}
	}
	if inj.Hits() != 1 {
		t.Errorf("%d streams silenced, want 1", inj.Hits())
	}
}

func TestWithholdBookmarks(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			f, p, c := format.start(t)
			w := c.watch(t, metav1.ListOptions{SendInitialEvents: new(true), AllowWatchBookmarks: true})
			s := f.next(t)
			inj := p.Inject(configMapWatches, faultproxy.WithholdBookmarks{})
			s.send(t, bookmark("1"), initialEventsEnd("2"), bookmark("3"), modified("a", "4"))
			if got := w.rv(t) + ", " + w.rv(t); got != "BOOKMARK 2, MODIFIED 4" {
				t.Errorf("got %s", got)
			}
			inj.Lift()
			s.send(t, bookmark("5"))
			if got := w.rv(t); got != "BOOKMARK 5" || inj.Hits() != 2 {
				t.Errorf("after the lift: %s, %d hits", got, inj.Hits())
			}
		})
	}
}

func TestWithholdInitialEventsEnd(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			f, p, c := format.start(t)
			m := configMapWatches
			m.InitialEvents = true
			inj := p.Inject(m, faultproxy.WithholdInitialEventsEnd{})
			w := c.watch(t, metav1.ListOptions{SendInitialEvents: new(true), AllowWatchBookmarks: true})
			f.next(t).send(t, modified("a", "1"), initialEventsEnd("2"), bookmark("3"))
			if got := w.rv(t) + ", " + w.rv(t); got != "MODIFIED 1, BOOKMARK 3" || inj.Hits() != 1 {
				t.Errorf("got %s with %d hits", got, inj.Hits())
			}
			plain := c.watch(t, metav1.ListOptions{})
			f.next(t).send(t, initialEventsEnd("4"))
			if got := plain.rv(t); got != "BOOKMARK 4" {
				t.Errorf("a watch without initial events got %s", got)
			}
		})
	}
}

func TestDropEvents(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			f, p, c := format.start(t)
			w := c.watch(t, metav1.ListOptions{})
			s := f.next(t)
			deleted := watch.Event{Type: watch.Deleted, Object: configMap("a", "6")}
			inj := p.Inject(configMapWatches, faultproxy.DropEvents{Types: []watch.EventType{watch.Modified}, N: 2, Name: "a"})
			s.send(t, modified("b", "1"), modified("a", "2"), modified("a", "3"), modified("a", "4"), bookmark("5"), deleted)
			got := w.rv(t) + ", " + w.rv(t) + ", " + w.rv(t) + ", " + w.rv(t)
			if got != "MODIFIED 1, MODIFIED 4, BOOKMARK 5, DELETED 6" || inj.Hits() != 2 {
				t.Errorf("got %s with %d hits", got, inj.Hits())
			}
			inj.Lift()
			all := p.Inject(configMapWatches, faultproxy.DropEvents{})
			s.send(t, modified("a", "7"), deleted, bookmark("8"))
			if got := w.rv(t); got != "BOOKMARK 8" || all.Hits() != 2 {
				t.Errorf("with all events dropped: %s, %d hits", got, all.Hits())
			}
			all.Lift()
			s.send(t, modified("a", "9"))
			if got := w.rv(t); got != "MODIFIED 9" {
				t.Errorf("after the lift: %s", got)
			}
		})
	}
}

func TestErrorEvent(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			f, p, c := format.start(t)
			w := c.watch(t, metav1.ListOptions{})
			f.next(t)
			m := configMapWatches
			m.Times = 1
			inj := p.Inject(m, faultproxy.ErrorEvent{})
			e := w.next(t)
			status, ok := e.Object.(*metav1.Status)
			if e.Type != watch.Error || !ok || status.Code != http.StatusGone || status.Reason != metav1.StatusReasonExpired {
				t.Errorf("event %v, want the error of an expired history", e)
			}
			w.ended(t)
			fresh := c.watch(t, metav1.ListOptions{})
			f.next(t).send(t, modified("a", "2"))
			if got := fresh.rv(t); got != "MODIFIED 2" || inj.Hits() != 1 {
				t.Errorf("the second stream got %s, with %d hits", got, inj.Hits())
			}
		})
	}
}

func TestHoldOpen(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			f, p, c := format.start(t)
			inj := p.Inject(configMapWatches, faultproxy.HoldOpen{})
			w := c.watch(t, metav1.ListOptions{TimeoutSeconds: new(int64(5))})
			s := f.next(t)
			s.send(t, modified("a", "1"))
			w.next(t)
			close(s.end)
			if err := inj.WaitHits(patient(t), 1); err != nil {
				t.Fatal(err)
			}
			w.quiet(t)
			inj.Lift()
			w.ended(t)
		})
	}
}

func TestHoldOpenStripsTheTimeout(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	p.Inject(configMapWatches, faultproxy.HoldOpen{StripTimeout: true})
	w := newClient(t, p.Config(f.config())).watch(t, metav1.ListOptions{TimeoutSeconds: new(int64(5)), ResourceVersion: "7"})
	s := f.next(t)
	if q := s.request.URL.Query(); q.Has("timeoutSeconds") || q.Get("resourceVersion") != "7" {
		t.Errorf("the server was asked for %s", s.request.URL.RawQuery)
	}
	close(s.end)
	w.ended(t) // what the server ends by itself does end
}

func TestCutStreamEvery(t *testing.T) {
	for _, reset := range []bool{false, true} {
		for _, format := range formats {
			t.Run(format.name, func(t *testing.T) {
				f, p, c := format.start(t)
				const age = 100 * time.Millisecond
				inj := p.Inject(configMapWatches, faultproxy.CutStreamEvery{Age: age, Reset: reset})
				w := c.watch(t, metav1.ListOptions{})
				s := f.next(t)
				<-s.gone                   // the server's end is closed with the client's
				for range w.ResultChan() { // with an error event, if it was reset
				}
				if err := inj.WaitHits(patient(t), 1); err != nil {
					t.Fatal(err)
				}
				if r := p.Requests(configMapWatches)[0]; r.Duration < age {
					t.Errorf("the stream lived for %v, want at least %v", r.Duration, age)
				}
			})
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault faultproxy.Truncate
		want  func(error) bool
	}{
		{"end", faultproxy.Truncate{}, func(err error) bool { return err == nil }},
		{"bytes", faultproxy.Truncate{AfterBytes: 11}, func(err error) bool { return err == nil }},
		{"reset", faultproxy.Truncate{Reset: true}, func(err error) bool {
			var se http2.StreamError
			return errors.As(err, &se) || (err != nil && !errors.Is(err, io.EOF))
		}},
		{"connection", faultproxy.Truncate{Connection: true}, func(err error) bool { return err != nil }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFakeAPI(t)
			p := newAPI(t, f.config(), faultproxy.APIOptions{})
			c := newClient(t, p.Config(f.config()))
			ctx, cancel := context.WithCancel(patient(t))
			defer cancel()
			body, err := c.CoreV1().RESTClient().Get().Resource("configmaps").Param("watch", "1").Stream(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer body.Close()
			s := f.next(t)
			s.send(t, modified("a", "1"))
			whole := make([]byte, len(mustRead(t, body)))
			inj := p.Inject(configMapWatches, tc.fault)
			s.send(t, modified("a", "2"))
			got, err := io.ReadAll(body)
			if !tc.want(err) {
				t.Errorf("the stream ended with %v", err)
			}
			want := len(whole) / 2
			if tc.fault.AfterBytes > 0 {
				want = tc.fault.AfterBytes
			}
			if len(got) != want || inj.Hits() != 1 {
				t.Errorf("%d bytes of %d arrived, want %d; %d hits", len(got), len(whole), want, inj.Hits())
			}
		})
	}
}

// mustRead reads what one flush of the server has sent.
func mustRead(t *testing.T, r io.Reader) []byte {
	t.Helper()
	buf := make([]byte, 64<<10)
	n, err := r.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf[:n]
}
