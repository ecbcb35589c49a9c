// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A watch that breaks within a second after the end of its initial events is resumed too: a reflector counts events and
// time anew from there.
func TestBreakAfterInitialEventsIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newMemoryNetwork()
		objects := newConfigMaps("a")
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: objects.serve})
		cfg := srv.config()
		cfg.Dial = network.dial
		flavour{wrapped: true}.apply(t, cfg)
		informer := startInformer(t, cfg)
		time.Sleep(500 * time.Millisecond)
		if !informer.HasSynced() {
			t.Fatal("the informer has not synced")
		}
		srv.close() // and with it every connection
		startServer(t, serverOptions{listener: network.listen("api.test:443"), ca: srv.ca, handler: objects.serve})
		time.Sleep(5 * time.Second)
		if diff := cmp.Diff([]string{"initial events", "watch from 101"}, objects.asked()); diff != "" {
			t.Errorf("the watch was not resumed (-want +got):\n%s", diff)
		}
	})
}

// Whoever cancels a watch by the request's Cancel channel, as http.Client does when its Timeout is due, is told so.
func TestCancelByChannel(t *testing.T) {
	parityInBubble(t, func(t *testing.T, f flavour) {
		network := newMemoryNetwork()
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: stalling})
		cfg := srv.config()
		cfg.Dial = network.dial
		cancel := make(chan struct{})
		req := newRequest(t.Context(), t, http.MethodGet, srv.url+watchPath, http.NoBody)
		req.Cancel = cancel //nolint:staticcheck // http.Client uses it
		resp, err := f.client(t, cfg).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.AfterFunc(3*time.Second, func() { close(cancel) })
		if body, err := io.ReadAll(resp.Body); err == nil || string(body) != "." {
			t.Errorf("read %q, %v, want an error", body, err)
		}
	})
}

// A watch over WebSocket is left to those who upgrade it.
func TestUpgradedWatch(t *testing.T) {
	parityInBubble(t, func(t *testing.T, f flavour) {
		network := newMemoryNetwork()
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: upgraded})
		cfg := srv.config()
		cfg.Dial, cfg.NextProtos = network.dial, []string{"http/1.1"}
		resp, err := f.client(t, cfg).Do(upgradeRequest(t, http.MethodGet, srv.url+podsPath+"?watch=true&resourceVersion=1", "websocket"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		conn, ok := resp.Body.(io.ReadWriteCloser)
		if !ok {
			t.Fatalf("the body is a %T, which cannot be written to", resp.Body)
		}
		expectEcho(t, resp, "websocket", conn, conn)
	})
}
