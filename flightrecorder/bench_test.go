// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

// aMillion is how many events each iteration takes off the wire.
const aMillion = 1_000_000

// BenchmarkAMillionEvents takes a million events over HTTP/2 into an informer's store, with
// the recorder and without. Compare the two of one run.
func BenchmarkAMillionEvents(b *testing.B) {
	for _, name := range []string{"off", "on"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				takeEvents(b, name == "on")
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/aMillion*1e9, "ns/event")
		})
	}
}

func takeEvents(b *testing.B, recorded bool) {
	b.Helper()
	server := httptest.NewUnstartedServer(&manyEvents{})
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	cfg := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1}

	to, fo, sources := transport.Options{Logger: logr.Discard()}, freshness.Options{Logger: logr.Discard()}, flightrecorder.Sources{}
	recorder, err := flightrecorder.New(flightrecorder.Options{})
	if recorded {
		to.Observer, fo.Observer = recorder.ObserveTransport, recorder.ObserveInformers
	}
	guard, err2 := transport.Wrap(cfg, to)
	monitor, err3 := freshness.New(fo)
	client, err4 := kubernetes.NewForConfig(cfg)
	sources.Monitor, sources.Transport = monitor, guard
	if err := errors.Join(err, err2, err3, err4, recorder.Attach(sources)); err != nil {
		b.Fatal(err)
	}
	lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", "default", fields.Everything())
	informer := monitor.NewInformer(listFirst{lw}, &corev1.ConfigMap{}, 0, cache.Indexers{})
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	wg.Go(func() { informer.RunWithContext(ctx) })
	wg.Go(func() { _ = monitor.Start(ctx) })
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for last := strconv.Itoa(aMillion + 1); informer.GetStore().LastStoreSyncResourceVersion() != last; {
		<-tick.C
	}
	cancel()
	wg.Wait()
	if got := len(recorder.Snapshot().Incidents); got != 0 {
		b.Errorf("%d incidents", got)
	}
}

// listFirst keeps the reflector from streaming initial events.
type listFirst struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is what client-go's reflector asks.
func (listFirst) IsWatchListSemanticsUnSupported() bool { return true }

// manyEvents answers lists with nothing, and the watch with a million events.
type manyEvents struct{ sent atomic.Int64 }

// ServeHTTP implements http.Handler.
func (m *manyEvents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[]}`, 1+m.sent.Load())
		return
	}
	out := bufio.NewWriterSize(w, 1<<16)
	for i := range aMillion {
		kind := "MODIFIED"
		if i < 100 {
			kind = "ADDED"
		}
		fmt.Fprintf(out, `{"type":%q,"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c%d","namespace":"default","resourceVersion":"%d"}}}`+"\n", kind, i%100, i+2)
		m.sent.Store(int64(i + 1))
	}
	_ = out.Flush()
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}
