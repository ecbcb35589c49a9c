// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/transport"
)

// deafServer answers PINGs on every connection, and on the first one no watch.
type deafServer struct {
	*httptest.Server
	conns atomic.Int32
}

type connKey struct{}

func startDeafServer(t *testing.T) *deafServer {
	t.Helper()
	s := &deafServer{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(connKey{}) == int32(1) && r.URL.Query().Get("watch") != "" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	}))
	s.EnableHTTP2 = true
	s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, s.conns.Add(1))
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// A proxy that answers PINGs may have pinned a connection to a dead backend: no
// request over it is ever answered, and only a new connection helps.
func TestDeafConnectionIsGivenUp(t *testing.T) {
	for name, tt := range map[string]struct {
		lists bool // which are answered
		want  int32
	}{
		"nothing is answered": {false, 2},
		"lists are":           {true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			srv := startDeafServer(t)
			cfg := &rest.Config{Host: srv.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
			if _, err := transport.Wrap(cfg, transport.Options{HeaderTimeout: time.Second}); err != nil {
				t.Fatal(err)
			}
			client, err := rest.HTTPClientFor(cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.CloseIdleConnections)
			get := func(query string) error {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/api/v1/pods"+query, nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := client.Do(req)
				if err != nil {
					return err
				}
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				return err
			}
			watched := make(chan struct{})
			var lists sync.WaitGroup
			if tt.lists {
				if err := get(""); err != nil { // over the one connection that all share
					t.Fatal(err)
				}
				lists.Go(func() {
					ticker := time.NewTicker(100 * time.Millisecond)
					defer ticker.Stop()
					for {
						if err := get(""); err != nil {
							t.Error(err)
						}
						select {
						case <-ticker.C:
						case <-watched:
							return
						}
					}
				})
			}
			for range 4 {
				err = get("?watch=1")
			}
			close(watched)
			lists.Wait()
			if answered := tt.want > 1; answered != (err == nil) {
				t.Errorf("the last watch: %v", err)
			}
			if got := srv.conns.Load(); got != tt.want {
				t.Errorf("%d connections, want %d", got, tt.want)
			}
		})
	}
}
