// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/transport"
)

// flavour is one of the two transports that every parity test runs on: client-go's own is the control, which shows
// that the test demands nothing that client-go does not do.
type flavour struct {
	wrapped bool
}

// apply wraps the config with the default options, or leaves it as it is.
func (f flavour) apply(t *testing.T, cfg *rest.Config) {
	t.Helper()
	if f.wrapped {
		wrap(t, cfg, transport.Options{})
	}
}

// client returns a client of the config, in this flavour.
func (f flavour) client(t *testing.T, cfg *rest.Config) *http.Client {
	t.Helper()
	f.apply(t, cfg)
	return clientFor(t, cfg)
}

// parity runs a test with client-go's own transport and with a wrapped one, and expects the same of both.
func parity(t *testing.T, test func(*testing.T, flavour)) {
	t.Helper()
	t.Run("stock", func(t *testing.T) { test(t, flavour{}) })
	t.Run("wrapped", func(t *testing.T) { test(t, flavour{wrapped: true}) })
}

// parityInBubble is parity in bubbles, for what takes minutes.
func parityInBubble(t *testing.T, test func(*testing.T, flavour)) {
	t.Helper()
	parity(t, func(t *testing.T, f flavour) {
		synctest.Test(t, func(t *testing.T) { test(t, f) })
	})
}

// pass lets a bubble's time pass.
func pass(d time.Duration) { time.Sleep(d) }

func wrap(t *testing.T, cfg *rest.Config, opts transport.Options) *transport.Transport {
	t.Helper()
	tr, err := transport.Wrap(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func clientFor(t *testing.T, cfg *rest.Config) *http.Client {
	t.Helper()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func newRequest(ctx context.Context, t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// try sends a GET and returns its error, or the response and the whole body.
func try(t *testing.T, client *http.Client, url string) (*http.Response, string, error) {
	t.Helper()
	resp, err := client.Do(newRequest(t.Context(), t, http.MethodGet, url, http.NoBody))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// get sends a GET that must be answered.
func get(t *testing.T, client *http.Client, url string) (*http.Response, string) {
	t.Helper()
	resp, body, err := try(t, client, url)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	return resp, body
}

// open sends a GET whose body is left open until the end of the test.
func open(t *testing.T, client *http.Client, url string) io.Reader {
	t.Helper()
	resp, err := client.Do(newRequest(t.Context(), t, http.MethodGet, url, http.NoBody))
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s was answered with %s", url, resp.Status)
	}
	return resp.Body
}

// readSome returns what the next read of a body brings.
func readSome(body io.Reader) (string, error) {
	buf := make([]byte, 1024)
	n, err := body.Read(buf)
	return string(buf[:n]), err
}

// eventually waits on the real clock until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	const limit = 30 * time.Second
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for begin := time.Now(); !cond(); <-ticker.C {
		if time.Since(begin) > limit {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// collected collects garbage until no goroutine runs a function whose name holds part. What client-go keeps alive for
// a transport, it gives up when the transport is garbage.
func collected(t *testing.T, part string) {
	t.Helper()
	eventually(t, "the end of "+part, func() bool {
		runtime.GC()
		return !running(part)
	})
}

func running(part string) bool {
	stacks := make([]byte, 4<<20)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), part)
}
