// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stalling answers with headers and one byte, then nothing.
func stalling(w http.ResponseWriter, r *http.Request) {
	send(w, ".")
	<-r.Context().Done()
}

// The config's timeout ends every response when it is due, and says so.
func TestTimeout(t *testing.T) {
	for _, path := range []string{podPath, podsPath, logPath} {
		t.Run(path, func(t *testing.T) {
			parityInBubble(t, func(t *testing.T, f flavour) {
				network := newMemoryNetwork()
				srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: stalling})
				cfg := srv.config()
				cfg.Dial, cfg.Timeout = network.dial, 7*time.Second
				begin := time.Now()
				_, body, err := try(t, f.client(t, cfg), srv.url+path)
				var timeout net.Error
				if !errors.As(err, &timeout) || !timeout.Timeout() || body != "." {
					t.Errorf("read %q, %v, want a timeout", body, err)
				}
				if got := time.Since(begin); got != cfg.Timeout {
					t.Errorf("it took %v, want %v", got, cfg.Timeout)
				}
			})
		})
	}
}

// Whoever cancels a request is told so, rather than that the stream has ended.
func TestCancel(t *testing.T) {
	for _, path := range []string{podPath, podsPath, watchPath, logPath} {
		t.Run(path, func(t *testing.T) {
			parityInBubble(t, func(t *testing.T, f flavour) {
				network := newMemoryNetwork()
				srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: stalling})
				cfg := srv.config()
				cfg.Dial = network.dial
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				resp, err := f.client(t, cfg).Do(newRequest(ctx, t, http.MethodGet, srv.url+path, http.NoBody))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				time.AfterFunc(3*time.Second, cancel)
				if body, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) || string(body) != "." {
					t.Errorf("read %q, %v, want context.Canceled", body, err)
				}
			})
		})
	}
}

// A body that is closed while it is being read ends the request on the server, and the read.
func TestCloseWhileReading(t *testing.T) {
	for _, path := range []string{podPath, podsPath, watchPath, logPath} {
		t.Run(path, func(t *testing.T) {
			parityInBubble(t, func(t *testing.T, f flavour) {
				network := newMemoryNetwork()
				ended := make(chan struct{})
				srv := startServer(t, serverOptions{
					listener: network.listen("api.test:443"),
					handler: func(w http.ResponseWriter, r *http.Request) {
						defer close(ended)
						stalling(w, r)
					},
				})
				cfg := srv.config()
				cfg.Dial = network.dial
				resp, err := f.client(t, cfg).Do(newRequest(t.Context(), t, http.MethodGet, srv.url+path, http.NoBody))
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(3*time.Second, func() { resp.Body.Close() })
				begin := time.Now()
				_, _ = io.ReadAll(resp.Body)
				<-ended
				if got := time.Since(begin); got != 3*time.Second {
					t.Errorf("the read and the request ended after %v, want 3s", got)
				}
			})
		})
	}
}

// A trace in the request's context, from which client-go's metrics and logs are made, sees the connection.
func TestTrace(t *testing.T) {
	for _, path := range []string{podPath, podsPath, watchPath} {
		t.Run(path, func(t *testing.T) {
			parity(t, func(t *testing.T, f flavour) {
				srv := startServer(t, serverOptions{})
				var got []string
				ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
					GetConn:              func(string) { got = append(got, "get") },
					GotConn:              func(info httptrace.GotConnInfo) { got = append(got, "got "+info.Conn.RemoteAddr().String()) },
					GotFirstResponseByte: func() { got = append(got, "first byte") },
				})
				resp, err := f.client(t, srv.config()).Do(newRequest(ctx, t, http.MethodGet, srv.url+path, http.NoBody))
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				want := []string{"get", "got " + strings.TrimPrefix(srv.url, "https://"), "first byte"}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("trace (-want +got):\n%s", diff)
				}
			})
		})
	}
}
