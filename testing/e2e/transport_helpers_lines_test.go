// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// slowLine gives a twin a line of its own to the server, with so many bytes per
// second. It is to be called before the twin's client is made.
func (tw *twins) slowLine(t *testing.T, w *twin, bytesPerSecond int64) *faultproxy.TCP {
	t.Helper()
	line := startTCP(t, tw.api.Addr())
	line.Bandwidth(bytesPerSecond)
	w.config.Host = "https://" + line.Addr()
	return line
}

// passed is how many bytes have come to the client by now.
func passed(line *faultproxy.TCP) (n int64) {
	for _, c := range line.Connections() {
		n += c.ToClient
	}
	return n
}

// listSize measures what an informer's list brings.
func (tw *twins) listSize(t *testing.T) int64 {
	t.Helper()
	const agent = "e2e-measure"
	w := tw.newTwin(agent)
	client := dynamicClient(t, w.config).Resource(tw.kind.gvr()).Namespace(tw.ns)
	if _, err := client.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	return w.requests("list")[0].BytesDown
}

// watchListSize measures what an informer's initial events bring.
func (tw *twins) watchListSize(t *testing.T) int64 {
	t.Helper()
	const agent = "e2e-measure"
	w := tw.newTwin(agent)
	w.start(t, nil)
	if !poll.Until(t.Context(), patience, w.HasSynced) {
		t.Fatal("not synced")
	}
	return w.requests("watch")[0].BytesDown
}

// manyObjects is enough for what is tested here. FRESHWATCH_E2E_OBJECTS asks for
// another number, such as the 50,000 of a large cluster, which take a while to
// make.
func manyObjects(t *testing.T) int {
	t.Helper()
	const enough = 5000
	text := os.Getenv("FRESHWATCH_E2E_OBJECTS")
	if text == "" {
		return enough
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < enough {
		t.Fatalf("FRESHWATCH_E2E_OBJECTS is %q, but must be a number, at least %d", text, enough)
	}
	return n
}

// fill creates ConfigMaps with these numbers in their names.
func (p *plane) fill(t *testing.T, ns string, from, to int) {
	t.Helper()
	const workers = 16
	cfg := rest.CopyConfig(p.Config())
	cfg.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfigAndClient(cfg, p.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	var next atomic.Int64
	next.Store(int64(from) - 1)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1); i < int64(to); i = next.Add(1) {
				obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("object-%d", i)}}
				if _, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
