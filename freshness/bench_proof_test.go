// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// BenchmarkProof measures the read behind a proof on a real kube-apiserver: on
// a kind with 50 objects and on one with 50,000, each time after a write to a
// third kind, so that the watch cache has to catch up. It reports medians of
// the time that client and server see, and the bytes of the answer.
func BenchmarkProof(b *testing.B) {
	cp, err := controlplane.Start(b.Context(), controlplane.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cp.Stop() }()
	counter := &bytesCounter{}
	cfg := cp.Config()
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { counter.RoundTripper = rt; return counter })
	client := kubernetes.NewForConfigOrDie(cfg)

	type kind struct {
		resource string
		objects  int
	}
	kinds := []kind{{"configmaps", 50}, {"secrets", 50_000}}
	for _, k := range kinds { // both before either is measured: they share a server
		fill(b, client, k.resource, k.objects)
	}
	for _, k := range kinds {
		rest := client.CoreV1().RESTClient()
		plain := &cache.ListWatch{ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return rest.Get().Resource(k.resource).VersionedParams(&o, metav1.ParameterCodec).Do(ctx).Get()
		}}
		b.Run(fmt.Sprintf("objects=%d/selector=nothing", k.objects), func(b *testing.B) {
			measureProof(b, client, counter, k.resource, plain)
		})
		// NewListWatchFromClient puts its own field selector, here none, over ours, so
		// that limit=1 alone keeps the answer small.
		own := cache.NewListWatchFromClient(rest, k.resource, "", fields.Everything())
		b.Run(fmt.Sprintf("objects=%d/selector=own", k.objects), func(b *testing.B) {
			measureProof(b, client, counter, k.resource, own)
		})
	}
}

func measureProof(b *testing.B, client kubernetes.Interface, counter *bytesCounter, resource string, lw cache.ListerWatcher) {
	b.Helper()
	l := newListerWatcher(lw, clock.RealClock{}, &limiter{})
	var inClient, inServer, size []float64
	for b.Loop() {
		write(b, client)
		bytes, server, begin := counter.n.Load(), serverSeconds(b, client, resource), time.Now()
		if _, _, err := l.readVersion(b.Context()); err != nil {
			b.Fatal(err)
		}
		inClient = append(inClient, time.Since(begin).Seconds()*1000)
		size = append(size, float64(counter.n.Load()-bytes))
		inServer = append(inServer, (serverSeconds(b, client, resource)-server)*1000)
	}
	b.ReportMetric(middle(inClient), "client-ms")
	b.ReportMetric(slices.Max(inClient), "client-max-ms")
	b.ReportMetric(middle(inServer), "server-ms")
	b.ReportMetric(middle(size), "bytes")
	b.ReportMetric(0, "ns/op")
}

func fill(b *testing.B, client kubernetes.Interface, resource string, n int) {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				m := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("o-%d", i)}
				var err error
				if resource == "secrets" {
					_, err = client.CoreV1().Secrets("default").Create(b.Context(), &corev1.Secret{ObjectMeta: m}, metav1.CreateOptions{})
				} else {
					_, err = client.CoreV1().ConfigMaps("default").Create(b.Context(), &corev1.ConfigMap{ObjectMeta: m}, metav1.CreateOptions{})
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func write(b *testing.B, client kubernetes.Interface) {
	b.Helper()
	e := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{GenerateName: "w-", Namespace: "default"}}
	if _, err := client.CoreV1().ServiceAccounts("default").Create(b.Context(), e, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
}

// serverSeconds is the time that the API server has spent on LISTs of a
// resource, by its own account.
func serverSeconds(b *testing.B, client kubernetes.Interface, resource string) float64 {
	b.Helper()
	raw, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	var sum float64
	for s := bufio.NewScanner(strings.NewReader(string(raw))); s.Scan(); {
		line := s.Text()
		if strings.HasPrefix(line, "apiserver_request_duration_seconds_sum{") &&
			strings.Contains(line, `resource="`+resource+`"`) && strings.Contains(line, `verb="LIST"`) {
			v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				b.Fatal(err)
			}
			sum += v
		}
	}
	return sum
}

// bytesCounter counts the bytes of answers to LISTs.
type bytesCounter struct {
	http.RoundTripper
	n atomic.Int64
}

func (c *bytesCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Has("limit") {
		resp.Body = &countingBody{ReadCloser: resp.Body, n: &c.n}
	}
	return resp, err
}

type countingBody struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c *countingBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
