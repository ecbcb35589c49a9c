// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"bufio"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// BenchmarkWatchEvents measures what the proxy adds to a busy watch stream: the same events with and without it. Events are of
// the size of a small custom resource.
func BenchmarkWatchEvents(b *testing.B) {
	event := fmt.Sprintf(`{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"1"},"data":"%s"}}`+"\n", strings.Repeat("x", 1500))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaJSON)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	direct := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
	proxy, err := faultproxy.NewAPI(direct, faultproxy.APIOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer proxy.Close()
	for name, cfg := range map[string]*rest.Config{"direct": direct, "proxied": proxy.Config(direct)} {
		b.Run(name, func(b *testing.B) {
			client, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			body, err := client.CoreV1().RESTClient().Get().Resource("configmaps").Param("watch", "1").Stream(ctx)
			if err != nil {
				b.Fatal(err)
			}
			defer body.Close()
			lines := bufio.NewReader(body)
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lines.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
