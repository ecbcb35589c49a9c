// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/transport"
)

// rivals are two clients of one server that differ in this package alone.
type rivals struct {
	url            string
	wrapped, stock *http.Client
}

// newRivals has them talk to a handler over HTTP/2 and TLS, on the loopback
// interface.
func newRivals(tb testing.TB, handler http.HandlerFunc) rivals {
	tb.Helper()
	srv := httptest.NewUnstartedServer(handler)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	tb.Cleanup(srv.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	return rivalsFor(tb, &rest.Config{Host: srv.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}})
}

func rivalsFor(tb testing.TB, cfg *rest.Config) rivals {
	tb.Helper()
	guarded := rest.CopyConfig(cfg)
	if _, err := transport.Wrap(guarded, transport.Options{Logger: logr.Discard()}); err != nil {
		tb.Fatal(err)
	}
	r := rivals{url: cfg.Host}
	for client, c := range map[**http.Client]*rest.Config{&r.wrapped: guarded, &r.stock: cfg} {
		made, err := rest.HTTPClientFor(c)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(made.CloseIdleConnections)
		*client = made
	}
	return r
}

// order is who is first at this turn.
func (r rivals) order(turn int) []*http.Client {
	if turn%2 == 0 {
		return []*http.Client{r.wrapped, r.stock}
	}
	return []*http.Client{r.stock, r.wrapped}
}

// inTurn measures both so many times, the one first and then the other.
func (r rivals) inTurn(times int, measure func(*http.Client) float64) (wrapped, stock []float64) {
	got := map[*http.Client][]float64{}
	for i := range times {
		for _, client := range r.order(i) {
			got[client] = append(got[client], measure(client))
		}
	}
	return got[r.wrapped], got[r.stock]
}

func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkRoundTrip sends the same requests by a wrapped client and by a stock
// one, in turn and in one run. It reports throughput as a ratio, of the median
// times (1 is no cost), and the allocations that a request costs more.
func BenchmarkRoundTrip(b *testing.B) {
	for _, bb := range []struct {
		name, path string
		size       int
		pairs      int // a round, which takes a tenth of a second
	}{
		{"get", "/api/v1/namespaces/default/configmaps/one", 1 << 10, 500},
		{"list=1MB", "/api/v1/configmaps", 1 << 20, 16},
	} {
		b.Run(bb.name, func(b *testing.B) {
			body := bytes.Repeat([]byte("x"), bb.size)
			r := newRivals(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
			send := func(client *http.Client) {
				resp, err := client.Get(r.url + bb.path)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(bb.size) {
					b.Fatalf("read %d bytes, %v; want %d", n, err, bb.size)
				}
				_ = resp.Body.Close()
			}
			const runs = 100
			extra := testing.AllocsPerRun(runs, func() { send(r.wrapped) }) - testing.AllocsPerRun(runs, func() { send(r.stock) })
			var ratios []float64
			for i := 0; b.Loop(); i++ {
				// No two connections are alike, so that each round has new ones.
				for _, client := range r.order(i) {
					client.CloseIdleConnections()
					send(client)
				}
				wrapped, stock := r.inTurn(bb.pairs, func(client *http.Client) float64 {
					begin := time.Now()
					send(client)
					return time.Since(begin).Seconds()
				})
				ratios = append(ratios, middle(stock)/middle(wrapped))
			}
			b.ReportMetric(middle(ratios), "throughput-ratio")
			b.ReportMetric(extra, "extra-allocs/request")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// event is one of a watch, as small as they come.
var event = []byte(`{"type":"MODIFIED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one"}}}` + "\n")

// endless is a server in memory whose watch brings one event with each read.
type endless struct{}

// RoundTrip implements http.RoundTripper.
func (endless) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/2.0", Body: endless{}, Request: req}, nil
}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) { return copy(p, event), nil }

// Close implements io.Closer.
func (endless) Close() error { return nil }

// watchEndless returns the bodies of endless watches.
func watchEndless(tb testing.TB) (r rivals, bodies map[*http.Client]io.Reader) {
	tb.Helper()
	r, bodies = rivalsFor(tb, &rest.Config{Host: "https://endless", Transport: endless{}}), map[*http.Client]io.Reader{}
	for _, client := range []*http.Client{r.wrapped, r.stock} {
		resp, err := client.Get(r.url + "/api/v1/configmaps?watch=true")
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = resp.Body.Close() })
		bodies[client] = resp.Body
	}
	return r, bodies
}

// BenchmarkWatchRead reads the events of a watch that comes from memory. It
// reports what this package adds to each: allocations, and time.
func BenchmarkWatchRead(b *testing.B) {
	const events = 10_000
	r, bodies := watchEndless(b)
	buf := make([]byte, 4<<10)
	read := func(client *http.Client) {
		if _, err := bodies[client].Read(buf); err != nil {
			b.Fatal(err)
		}
	}
	extra := testing.AllocsPerRun(events, func() { read(r.wrapped) }) - testing.AllocsPerRun(events, func() { read(r.stock) })
	var times []float64
	for b.Loop() {
		wrapped, stock := r.inTurn(10, func(client *http.Client) float64 {
			begin := time.Now()
			for range events {
				read(client)
			}
			return float64(time.Since(begin)) / events
		})
		times = append(times, middle(wrapped)-middle(stock))
	}
	b.ReportMetric(middle(times), "extra-ns/event")
	b.ReportMetric(extra, "extra-allocs/event")
	b.ReportMetric(0, "ns/op")
}
