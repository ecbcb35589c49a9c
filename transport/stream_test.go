// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/internal/streamctx"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/transport"
)

var configMapKind = corev1.SchemeGroupVersion.WithResource("configmaps")

// operator is a program with an informer made by a generated factory, whose
// config is wrapped.
type operator struct {
	srv       *freshtest.Server
	client    kubernetes.Interface
	transport *transport.Transport
	informer  cache.SharedIndexInformer
	ended     func() map[string]int // streams by reason
}

// runOperator starts one in the test's bubble, and waits until it has synced.
func runOperator(t *testing.T, opts transport.Options) *operator {
	t.Helper()
	o := &operator{srv: freshtest.Start(t, freshtest.Options{})}
	cfg := o.srv.Config()
	opts.Logger = logr.Discard()
	var err error
	if o.transport, err = transport.Wrap(cfg, opts); err != nil {
		t.Fatal(err)
	}
	if o.client, err = kubernetes.NewForConfig(cfg); err != nil {
		t.Fatal(err)
	}
	o.informer = informers.NewSharedInformerFactory(o.client, 0).Core().V1().ConfigMaps().Informer()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { o.informer.RunWithContext(ctx) })
	t.Cleanup(func() {
		o.srv.Close()
		cancel()
		wg.Wait()
	})
	freshtest.WaitForSync(t, o.informer.HasSynced)
	o.ended = func() map[string]int { return endedWatches(t, o.transport) }
	return o
}

// put stores an object as someone else, and returns what tells whether the
// informer has it.
func (o *operator) put(t *testing.T, name string) func() bool {
	t.Helper()
	if err := o.srv.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		_, found, err := o.informer.GetStore().GetByKey("default/" + name)
		return found && err == nil
	}
}

// endedWatches reads the collector.
func endedWatches(t *testing.T, c prometheus.Collector) map[string]int {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, f := range families {
		if f.GetName() != "freshwatch_transport_streams_ended_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["verb"] == "watch" && m.GetCounter().GetValue() > 0 {
				out[labels["reason"]] = int(m.GetCounter().GetValue())
			}
		}
	}
	return out
}

// Whatever ends a stream, the informer goes on from where it was: one more watch,
// and no list.
func TestStreamsResume(t *testing.T) {
	tests := []struct {
		name   string
		opts   transport.Options
		fault  func(t *testing.T, o *operator)
		within time.Duration
		want   map[string]int
	}{
		{
			name:   "silent stream",
			fault:  func(_ *testing.T, o *operator) { o.srv.Stall(configMapKind) },
			within: 92 * time.Second,
			want:   map[string]int{"idle": 1},
		},
		{
			name:   "silent stream, impatient",
			opts:   transport.Options{IdleTimeout: 20 * time.Second},
			fault:  func(_ *testing.T, o *operator) { o.srv.Stall(configMapKind) },
			within: 22 * time.Second,
			want:   map[string]int{"idle": 1},
		},
		{
			name:   "silent stream, patient: the bound on watches ends it",
			opts:   transport.Options{IdleTimeout: time.Hour, MaxWatch: 40 * time.Second},
			fault:  func(_ *testing.T, o *operator) { o.srv.Stall(configMapKind) },
			within: 52 * time.Second,
			want:   map[string]int{"renewed": 1},
		},
		{
			name:   "black hole",
			fault:  func(_ *testing.T, o *operator) { o.srv.BlackHole() },
			within: 16 * time.Second,
			want:   map[string]int{"ping": 1},
		},
		{
			name: "black hole, while the watch is being renewed",
			fault: func(_ *testing.T, o *operator) {
				o.srv.BlackHole()
				o.transport.EndStreams(configMapKind)
			},
			within: 20 * time.Second,
			want:   map[string]int{"asked": 1, "ping": 1},
		},
		{
			name:   "connections reset",
			fault:  func(_ *testing.T, o *operator) { o.srv.DropConnections() },
			within: 2 * time.Second,
			want:   map[string]int{"connection": 1},
		},
		{
			name: "recycled",
			fault: func(t *testing.T, o *operator) {
				if got := o.transport.Recycle(); got != 1 {
					t.Errorf("Recycle() = %d, want 1", got)
				}
			},
			within: 2 * time.Second,
			want:   map[string]int{"recycled": 1},
		},
		{
			name: "asked",
			fault: func(t *testing.T, o *operator) {
				o.srv.Stall(configMapKind)
				if got := o.transport.EndStreams(corev1.SchemeGroupVersion.WithResource("secrets")); got != 0 {
					t.Errorf("EndStreams of another resource = %d, want 0", got)
				}
				if got := o.transport.EndStreams(configMapKind); got != 1 {
					t.Errorf("EndStreams = %d, want 1", got)
				}
			},
			within: 2 * time.Second,
			want:   map[string]int{"asked": 1},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := runOperator(t, tt.opts)
				time.Sleep(5 * time.Second)
				tt.fault(t, o)
				start := time.Now()
				seen := o.put(t, "news")
				for !seen() && time.Since(start) < 5*time.Minute {
					time.Sleep(100 * time.Millisecond)
				}
				if took := time.Since(start); took > tt.within {
					t.Errorf("seen after %v, want within %v", took, tt.within)
				}
				if diff := cmp.Diff(tt.want, o.ended()); diff != "" {
					t.Errorf("watches ended (-want +got):\n%s", diff)
				}
				if got := refills(o.srv); got != 1 {
					t.Errorf("the cache was filled %d times, want once", got)
				}
				if got := o.srv.Requests(configMapKind, "watch"); got != 2 {
					t.Errorf("%d watches arrived, want 2: the first, and one that resumes", got)
				}
			})
		})
	}
}

// refills counts how often a cache was filled from nothing.
func refills(srv *freshtest.Server) int {
	n := 0
	for _, r := range srv.Log() {
		if r.GVR == configMapKind && (r.Verb == "list" || r.SendInitialEvents) {
			n++
		}
	}
	return n
}

// Stock client-go misses the same silence for as long as anybody looks, and lists
// everything again after the same black hole.
func TestStockDoesNot(t *testing.T) {
	run := func(t *testing.T, fault func(*freshtest.Server), look time.Duration) (seen bool, filled int) {
		t.Helper()
		srv := freshtest.Start(t, freshtest.Options{})
		client, err := kubernetes.NewForConfig(srv.Config())
		if err != nil {
			t.Fatal(err)
		}
		o := &operator{srv: srv, informer: informers.NewSharedInformerFactory(client, 0).Core().V1().ConfigMaps().Informer()}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { o.informer.RunWithContext(ctx) })
		freshtest.WaitForSync(t, o.informer.HasSynced)
		time.Sleep(5 * time.Second)
		fault(srv)
		found := o.put(t, "news")
		time.Sleep(look)
		filled = refills(srv)
		seen = found()
		srv.Close()
		cancel()
		wg.Wait()
		return seen, filled
	}
	synctest.Test(t, func(t *testing.T) {
		if seen, _ := run(t, func(s *freshtest.Server) { s.Stall(configMapKind) }, 30*time.Minute); seen {
			t.Error("a silent stream was noticed within 30 min: what is this package for?")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		seen, filled := run(t, func(s *freshtest.Server) { s.BlackHole() }, 2*time.Minute)
		if !seen || filled != 2 {
			t.Errorf("black hole: seen %v with %d fills of the cache, want it seen with 2", seen, filled)
		}
	})
}

// Watches are renewed in time where everything is well, each at its own.
func TestBoundedWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := runOperator(t, transport.Options{})
		time.Sleep(time.Hour)
		var timeouts []int64
		for _, r := range o.srv.Log() {
			if r.Verb == "watch" && !r.SendInitialEvents {
				timeouts = append(timeouts, r.TimeoutSeconds)
			}
		}
		if len(timeouts) < 18 {
			t.Fatalf("%d watches in an hour, want one every 200 s or more often", len(timeouts))
		}
		different := map[int64]bool{}
		for _, s := range timeouts {
			different[s] = true
			if s < 150 || s > 200 {
				t.Errorf("a watch of %d s, want 150 to 200", s)
			}
		}
		if len(different) < 5 {
			t.Errorf("timeouts %v, want them spread", timeouts)
		}
		if o.srv.Requests(configMapKind, "list") != 0 {
			t.Error("a list was sent")
		}
	})
}

func TestStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := runOperator(t, transport.Options{})
		o.put(t, "news")
		synctest.Wait()
		got := o.transport.Streams()
		if len(got) != 1 {
			t.Fatalf("%d streams, want 1", len(got))
		}
		s := got[0]
		if s.GVR != configMapKind || s.Namespace != "" || s.Protocol != "HTTP/2.0" || s.Local == "" || s.Remote == "" || s.Bytes == 0 ||
			s.LastByte.IsZero() || s.LastByte.Before(s.Since) || s.Timeout < 5*time.Minute {
			t.Errorf("stream = %+v", s)
		}
	})
}

// fakeServer answers each request with a body that the test writes.
type fakeServer struct {
	mu     sync.Mutex
	bodies []*io.PipeWriter
	hold   chan struct{} // headers wait for it, if it is not nil
}

func (f *fakeServer) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.hold != nil {
		select {
		case <-f.hold:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	r, w := io.Pipe()
	context.AfterFunc(req.Context(), func() { _ = w.CloseWithError(req.Context().Err()) })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies = append(f.bodies, w)
	rec := httptest.NewRecorder()
	resp := rec.Result()
	resp.Body = r
	resp.Request = req
	return resp, nil
}

// guard wraps a config with that server as its transport.
func (f *fakeServer) guard(t *testing.T, opts transport.Options) *http.Client {
	t.Helper()
	opts.Logger = logr.Discard()
	cfg := &rest.Config{Host: "https://host", Transport: f}
	if _, err := transport.Wrap(cfg, opts); err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func fetch(t *testing.T, client *http.Client, path string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://host"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return client.Do(req)
}

func TestListDeadline(t *testing.T) {
	t.Run("moves slowly", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeServer{}
			resp, err := fetch(t, f.guard(t, transport.Options{}), "/api/v1/pods")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			go func() {
				for range 60 {
					time.Sleep(time.Minute) // less than ListTimeout
					_, _ = io.WriteString(f.bodies[0], "x")
				}
				_ = f.bodies[0].Close()
			}()
			if got, err := io.ReadAll(resp.Body); err != nil || len(got) != 60 {
				t.Errorf("%d bytes in an hour, error %v; want 60 and none", len(got), err)
			}
		})
	})
	t.Run("stops", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeServer{}
			resp, err := fetch(t, f.guard(t, transport.Options{}), "/api/v1/namespaces/a/pods")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			go func() { _, _ = io.WriteString(f.bodies[0], "half") }()
			start := time.Now()
			_, err = io.ReadAll(resp.Body)
			checkStalled(t, err, 4, time.Since(start))
		})
	})
	t.Run("never begins", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeServer{hold: make(chan struct{})}
			start := time.Now()
			_, err := fetch(t, f.guard(t, transport.Options{}), "/api/v1/namespaces/a/pods")
			checkStalled(t, err, 0, time.Since(start))
		})
	})
}

func checkStalled(t *testing.T, err error, bytes int64, took time.Duration) {
	t.Helper()
	var stalled *transport.ListStalledError
	if !errors.Is(err, transport.ErrListStalled) || !errors.As(err, &stalled) {
		t.Fatalf("error %v, want ErrListStalled", err)
	}
	want := &transport.ListStalledError{
		GVR: corev1.SchemeGroupVersion.WithResource("pods"), Namespace: "a", Limit: transport.DefaultListTimeout, Bytes: bytes,
	}
	if diff := cmp.Diff(want, stalled); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if !strings.Contains(err.Error(), "list of /v1, Resource=pods made no progress for 1m10s") {
		t.Errorf("error text %q", err)
	}
	if took < transport.DefaultListTimeout || took > transport.DefaultListTimeout+3*time.Second {
		t.Errorf("after %v, want %v to the second", took, transport.DefaultListTimeout)
	}
}

// A stream is quiet only while somebody waits for it.
func TestSlowReaderIsNotADeadStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{}
		resp, err := fetch(t, f.guard(t, transport.Options{}), "/api/v1/pods?watch=true&timeoutSeconds=120")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		go func() { _, _ = io.WriteString(f.bodies[0], "event") }()
		time.Sleep(time.Hour)
		buf := make([]byte, 10)
		if n, err := resp.Body.Read(buf); err != nil || string(buf[:n]) != "event" {
			t.Errorf("read %q, %v after an hour; want the event", buf[:n], err)
		}
		start := time.Now()
		if _, err := resp.Body.Read(buf); err != io.EOF {
			t.Errorf("error %v of a stream past its age, want %v", err, io.EOF)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("ended %v after somebody waited again, want at once: it is past its age", took)
		}
	})
}

// Silence counts from when somebody began to wait.
func TestSilenceCountsFromTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{}
		resp, err := fetch(t, f.guard(t, transport.Options{IdleTimeout: 30 * time.Second}), "/api/v1/pods?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.Sleep(100 * time.Second)
		start := time.Now()
		if _, err := resp.Body.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("error %v, want %v", err, io.EOF)
		}
		if took := time.Since(start); took < 29*time.Second || took > 33*time.Second {
			t.Errorf("ended after %v of waiting, want 30 s to the second or two", took)
		}
	})
}

// Streams that end too soon for a reflector end for it when it would go on from
// where it was.
func TestShortWatch(t *testing.T) {
	const plain, initial = "watch=true&resourceVersion=1", "watch=true&sendInitialEvents=true"
	for _, tt := range []struct {
		name, query string
		brings      string
		age         time.Duration // when it brings that
		more        time.Duration // when it ends after that
		want        time.Duration // when that is told
	}{
		{"at once", plain, "", 0, 0, time.Second},
		{"later", plain, "", 0, time.Second, 0},
		{"with half an event, at once", plain, "{", 0, 0, time.Second},
		{"with an event, later", plain, "{}", 5 * time.Second, 0, 0},
		{"initial events, at once", initial, "", 0, 0, time.Second},
		{"right after initial events", initial, "{}", 5 * time.Second, 0, 3 * time.Second},
		{"soon after initial events", initial, "{}", 5 * time.Second, time.Second, 2 * time.Second},
		{"later after initial events", initial, "{}", 5 * time.Second, 3 * time.Second, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeServer{}
				resp, err := fetch(t, f.guard(t, transport.Options{}), "/api/v1/pods?"+tt.query)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				go func() {
					time.Sleep(tt.age)
					_, _ = io.WriteString(f.bodies[0], tt.brings)
					time.Sleep(tt.more)
					_ = f.bodies[0].CloseWithError(errors.New("stream error: stream ID 1; INTERNAL_ERROR"))
				}()
				start := time.Now()
				if got, err := io.ReadAll(resp.Body); err != nil || string(got) != tt.brings {
					t.Errorf("read %q, %v; want %q and no error", got, err, tt.brings)
				}
				if took := time.Since(start) - tt.age - tt.more; took != tt.want {
					t.Errorf("the end was told after %v, want %v", took, tt.want)
				}
			})
		})
	}
}

// lastWords brings its last bytes together with its end.
type lastWords struct{}

func (lastWords) Read(p []byte) (int, error) { return copy(p, "event"), errors.New("reset") }

func (lastWords) Close() error { return nil }

func (lastWords) RoundTrip(*http.Request) (*http.Response, error) {
	resp := httptest.NewRecorder().Result()
	resp.Body = lastWords{}
	return resp, nil
}

// Only the end is kept back, not what came with it.
func TestLastBytesAreNotHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := &rest.Config{Host: "https://host", Transport: lastWords{}}
		if _, err := transport.Wrap(cfg, transport.Options{}); err != nil {
			t.Fatal(err)
		}
		client, err := rest.HTTPClientFor(cfg)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := fetch(t, client, "/api/v1/pods?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		start, buf := time.Now(), make([]byte, 10)
		n, err := resp.Body.Read(buf)
		if took := time.Since(start); string(buf[:n]) != "event" || err != nil || took != 0 {
			t.Errorf("read %q, %v after %v; want the event at once", buf[:n], err, took)
		}
		n, err = resp.Body.Read(buf)
		if took := time.Since(start); n != 0 || !errors.Is(err, io.EOF) || took != time.Second {
			t.Errorf("then %d bytes, %v after %v; want %v after a second", n, err, took, io.EOF)
		}
	})
}

// The caller's own end is told as it is.
func TestCallersOwnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, end := range map[string]struct {
			do   func(*streamctx.Context)
			want error
		}{
			"cancelled": {func(c *streamctx.Context) { c.Release() }, context.Canceled},
			"expired":   {func(c *streamctx.Context) { c.Expire() }, context.DeadlineExceeded},
		} {
			f := &fakeServer{}
			client := f.guard(t, transport.Options{})
			ctx := streamctx.New(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://host/api/v1/pods?watch=true", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Minute, func() { end.do(ctx) })
			if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, end.want) {
				t.Errorf("%s: error %v, want %v", name, err, end.want)
			}
			_ = resp.Body.Close()
		}
	})
}

// Headers that never come are a time-out, which client-go repeats.
func TestHeaderDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{hold: make(chan struct{})}
		start := time.Now()
		_, err := fetch(t, f.guard(t, transport.Options{}), "/api/v1/pods?watch=true&resourceVersion=5")
		var timeout interface{ Timeout() bool }
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("error %v, want a time-out", err)
		}
		if took := time.Since(start); took < 30*time.Second || took > 32*time.Second {
			t.Errorf("after %v, want 30 s to the second", took)
		}
	})
}

// A process that was not running has not waited.
func TestPausedProcessEndsNothing(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	f := &fakeServer{}
	resp, err := fetch(t, f.guard(t, transport.Options{Clock: clk}), "/api/v1/pods?watch=true&timeoutSeconds=120")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	over := make(chan error, 1)
	go func() {
		_, err := resp.Body.Read(make([]byte, 1))
		over <- err
	}()
	ended := func() bool { return len(over) > 0 }
	freshtest.Step(clk, time.Second)
	freshtest.Step(clk, time.Hour) // asleep
	for range 85 {
		freshtest.Step(clk, time.Second)
	}
	if ended() {
		t.Fatal("ended within 85 s of running time, want 90")
	}
	freshtest.StepUntil(t, clk, time.Second, 10*time.Second, ended, "the stream does not end")
}

func TestCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := runOperator(t, transport.Options{})
		w, err := o.client.CoreV1().Secrets("kube-system").Watch(t.Context(), metav1.ListOptions{}) // on the same connection
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		o.srv.BlackHole()
		seen := o.put(t, "news")
		time.Sleep(20 * time.Second)
		if !seen() {
			t.Fatal("not healed")
		}
		o.transport.Recycle()
		time.Sleep(5 * time.Second)
		problems, err := testutil.CollectAndLint(o.transport)
		if err != nil || len(problems) != 0 {
			t.Errorf("lint: %v, %v", problems, err)
		}
		if diff := cmp.Diff(map[string]int{"ping": 2, "recycled": 1}, o.ended()); diff != "" {
			t.Errorf("watches ended (-want +got):\n%s", diff)
		}
		const want = `
# HELP freshwatch_transport_connections Connections that are open.
# TYPE freshwatch_transport_connections gauge
freshwatch_transport_connections 1
# HELP freshwatch_transport_connections_opened_total Connections opened.
# TYPE freshwatch_transport_connections_opened_total counter
freshwatch_transport_connections_opened_total 3
# HELP freshwatch_transport_connections_recycled_total Connections closed to have new ones dialed.
# TYPE freshwatch_transport_connections_recycled_total counter
freshwatch_transport_connections_recycled_total 1
# HELP freshwatch_transport_dial_errors_total Connections that could not be opened.
# TYPE freshwatch_transport_dial_errors_total counter
freshwatch_transport_dial_errors_total 0
# HELP freshwatch_transport_pings_lost_total Connections that did not answer an HTTP/2 PING while a list or watch was on them.
# TYPE freshwatch_transport_pings_lost_total counter
freshwatch_transport_pings_lost_total 1
# HELP freshwatch_transport_unauthorized_exits_total Exits because of a dead credential. Seen only where ExitOptions.Exit does not end the process.
# TYPE freshwatch_transport_unauthorized_exits_total counter
freshwatch_transport_unauthorized_exits_total 0
# HELP freshwatch_transport_unauthorized_seconds How long this process's credential has been answered with 401, without a success; 0 when it works.
# TYPE freshwatch_transport_unauthorized_seconds gauge
freshwatch_transport_unauthorized_seconds 0
# HELP freshwatch_transport_unauthorized_total Responses of 401: to this process's own credential (counted), or to another, none, or another host (ignored).
# TYPE freshwatch_transport_unauthorized_total counter
freshwatch_transport_unauthorized_total{verdict="counted"} 0
freshwatch_transport_unauthorized_total{verdict="ignored"} 0
# HELP freshwatch_transport_watches Watches that are open. Absent while none is.
# TYPE freshwatch_transport_watches gauge
freshwatch_transport_watches{group="",namespace="",resource="configmaps",version="v1"} 1
`
		names := []string{
			"connections", "connections_opened_total", "connections_recycled_total", "dial_errors_total", "pings_lost_total",
			"unauthorized_exits_total", "unauthorized_seconds", "unauthorized_total", "watches",
		}
		for i := range names {
			names[i] = "freshwatch_transport_" + names[i]
		}
		if err := testutil.CollectAndCompare(o.transport, strings.NewReader(want), names...); err != nil {
			t.Error(err)
		}
	})
}
