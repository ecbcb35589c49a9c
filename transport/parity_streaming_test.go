// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freshwatch/freshwatch/transport"
)

// longSilence is longer than any deadline of the default options.
const longSilence = time.Hour

// streamingPaths are no lists and no watches, though some say watch=true, to the API server or to what is behind it.
var streamingPaths = map[string]string{
	"log":                podPath + "/log?follow=true",
	"log and watch":      podPath + "/log?follow=true&watch=true",
	"service":            "/api/v1/namespaces/default/services/s/proxy/api/v1/pods?watch=true",
	"service named":      "/api/v1/namespaces/default/services/https:s:443/proxy/watch?watch=1",
	"pod":                podPath + "/proxy/api/v1/watch/pods?watch=true",
	"node":               "/api/v1/nodes/n/proxy/logs/?watch=true",
	"attach":             podPath + "/attach?container=c&watch=true",
	"custom subresource": "/apis/example.com/v1/namespaces/default/widgets/w/console?watch=true",
	"object":             podPath + "?watch=true",
	"no resource":        "/metrics?watch=true",
	"outside":            "/healthz/watch?watch=true",
}

// Streams that are no watches are silent for as long as they like, before their response begins and in the middle of
// it, and what they ask for is not changed. A watch on the same server is ended, or this test would show nothing.
func TestStreamsAreNeverCut(t *testing.T) {
	for name, path := range streamingPaths {
		t.Run(name, func(t *testing.T) {
			parityInBubble(t, func(t *testing.T, f flavour) {
				network := newMemoryNetwork()
				srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: silentTwice})
				cfg := srv.config()
				cfg.Dial = network.dial
				var tr *transport.Transport
				if f.wrapped {
					tr = wrap(t, cfg, transport.Options{})
				}
				client := clientFor(t, cfg)
				begin := time.Now()
				body := open(t, client, srv.url+path)
				for _, want := range []string{"early", "late"} {
					if got, err := readSome(body); err != nil || got != want {
						t.Fatalf("read %q, %v after %v, want %q", got, err, time.Since(begin), want)
					}
					if tr != nil && len(tr.Streams()) != 0 {
						t.Errorf("it is taken for a list or watch: %+v", tr.Streams())
					}
				}
				if got := time.Since(begin); got != 2*longSilence {
					t.Errorf("it took %v, want %v", got, 2*longSilence)
				}
				if left, err := io.ReadAll(body); err != nil || len(left) != 0 {
					t.Errorf("read %q, %v at the end", left, err)
				}
				if got := srv.last(t).URI; got != path {
					t.Errorf("the server was asked for %s, want %s", got, path)
				}
			})
		})
	}
	t.Run("but watches are", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			network := newMemoryNetwork()
			srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: stalling})
			cfg := srv.config()
			cfg.Dial = network.dial
			wrap(t, cfg, transport.Options{})
			begin := time.Now()
			if _, err := io.ReadAll(open(t, clientFor(t, cfg), srv.url+watchPath)); err != nil {
				t.Errorf("the watch ended in %v, want io.EOF", err)
			}
			if got := time.Since(begin); got > 2*transport.DefaultIdleTimeout {
				t.Errorf("it took %v", got)
			}
		})
	})
}

// silentTwice takes longSilence before its headers and as long before the rest of its body.
func silentTwice(w http.ResponseWriter, r *http.Request) {
	for _, piece := range []string{"early", "late"} {
		select {
		case <-time.After(longSilence):
			send(w, piece)
		case <-r.Context().Done():
			return
		}
	}
}
