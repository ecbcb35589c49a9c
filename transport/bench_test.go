// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
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

// inTurn measures both, the one first and then the other, and returns the
// measurements of the wrapped client over those of the stock one's.
func (r rivals) inTurn(b *testing.B, measure func(*http.Client) (time.Duration, uint64)) (ratios, allocs []float64) {
	b.Helper()
	for i := 0; b.Loop(); i++ {
		var tw, ts time.Duration
		var aw, as uint64
		if i%2 == 0 {
			tw, aw = measure(r.wrapped)
			ts, as = measure(r.stock)
		} else {
			ts, as = measure(r.stock)
			tw, aw = measure(r.wrapped)
		}
		ratios = append(ratios, float64(ts)/float64(tw))
		allocs = append(allocs, float64(aw)-float64(as))
	}
	return ratios, allocs
}

func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// mallocs returns how long something took, and the allocations of the whole
// process meanwhile.
func mallocs(do func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	do()
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	return took, after.Mallocs - before.Mallocs
}

// BenchmarkRoundTrip sends the same requests by a wrapped client and by a stock
// one, in turn and in one run. It reports the medians of the pairs: throughput as
// a ratio (1 is no cost), and the allocations that a request costs more.
func BenchmarkRoundTrip(b *testing.B) {
	for _, bb := range []struct {
		name, path string
		size       int
		batch      int // requests between two looks at the clock
	}{
		{"get", "/api/v1/namespaces/default/configmaps/one", 1 << 10, 200},
		{"list=1MB", "/api/v1/configmaps", 1 << 20, 20},
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
			send(r.wrapped) // dials
			send(r.stock)
			ratios, allocs := r.inTurn(b, func(client *http.Client) (time.Duration, uint64) {
				return mallocs(func() {
					for range bb.batch {
						send(client)
					}
				})
			})
			b.ReportMetric(middle(ratios), "throughput-ratio")
			b.ReportMetric(middle(allocs)/float64(bb.batch), "extra-allocs/request")
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
	const events = 100_000
	r, bodies := watchEndless(b)
	buf := make([]byte, 4<<10)
	var extra []float64
	took := map[*http.Client]time.Duration{}
	_, allocs := r.inTurn(b, func(client *http.Client) (time.Duration, uint64) {
		body := bodies[client]
		d, n := mallocs(func() {
			for range events {
				if _, err := body.Read(buf); err != nil {
					b.Fatal(err)
				}
			}
		})
		if took[client] = d; len(took) == 2 {
			extra = append(extra, float64(took[r.wrapped]-took[r.stock])/events)
			clear(took)
		}
		return d, n
	})
	b.ReportMetric(middle(extra), "extra-ns/event")
	b.ReportMetric(middle(allocs)/events, "extra-allocs/event")
	b.ReportMetric(0, "ns/op")
}

// TestWatchReadAllocatesNothing holds for every event and every byte.
func TestWatchReadAllocatesNothing(t *testing.T) {
	r, bodies := watchEndless(t)
	buf := make([]byte, 4<<10)
	if n := testing.AllocsPerRun(1000, func() { _, _ = bodies[r.wrapped].Read(buf) }); n != 0 {
		t.Errorf("a read costs %v allocations, want none", n)
	}
}

// TestWatchesAtRestCostNoGoroutine has as many watches wait as a large operator
// has: by a wrapped client it is one goroutine more than by a stock one, for all.
func TestWatchesAtRestCostNoGoroutine(t *testing.T) {
	const watches = 200
	r := newRivals(t, func(w http.ResponseWriter, req *http.Request) {
		if !strings.Contains(req.URL.RawQuery, "watch") {
			return
		}
		_, _ = w.Write(event)
		_ = http.NewResponseController(w).Flush()
		<-req.Context().Done()
	})
	cost := map[*http.Client]int{}
	for _, client := range []*http.Client{r.stock, r.wrapped} {
		cost[client] = goroutinesOf(t, client, r.url, watches)
	}
	if got := cost[r.wrapped] - cost[r.stock]; got != 1 {
		t.Errorf("%d watches at rest cost %d goroutines, and %d by a stock client: %d more, want 1", watches, cost[r.wrapped], cost[r.stock], got)
	}
	t.Logf("%d watches at rest: %d goroutines, stock %d", watches, cost[r.wrapped], cost[r.stock])
}

// goroutinesOf returns by how many goroutines there are more while so many
// watches, with a reader each, wait.
func goroutinesOf(t *testing.T, client *http.Client, url string, watches int) int {
	t.Helper()
	if resp, err := client.Get(url + "/api"); err != nil { // the connection is there before
		t.Fatal(err)
	} else {
		_ = resp.Body.Close()
	}
	before := settledGoroutines(t)
	read := make(chan struct{}, watches)
	done := make(chan struct{}, watches)
	var bodies []io.Closer
	for range watches {
		resp, err := client.Get(url + "/api/v1/configmaps?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, resp.Body)
		go func() {
			defer func() { done <- struct{}{} }()
			buf := make([]byte, 4<<10)
			for {
				if _, err := resp.Body.Read(buf); err != nil {
					return
				}
				read <- struct{}{}
			}
		}()
	}
	for range watches {
		<-read
	}
	after := settledGoroutines(t)
	for _, b := range bodies {
		_ = b.Close()
	}
	for range watches {
		<-done
	}
	return after - before
}

// settledGoroutines returns the number of goroutines once it does not change.
func settledGoroutines(t *testing.T) int {
	t.Helper()
	last, same := 0, 0
	eventually(t, "a number of goroutines that stays", func() bool {
		n := runtime.NumGoroutine()
		if n != last {
			last, same = n, 0
		}
		same++
		return same > 40 // looks, 5 ms apart
	})
	return last
}
