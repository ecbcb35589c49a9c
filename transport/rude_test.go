// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/transport"
)

// A response without a body is one whose body is empty, as to net/http. Fakes in tests have such.
func TestResponseWithoutBody(t *testing.T) {
	for _, path := range []string{podPath, podsPath, watchPath} {
		parity(t, func(t *testing.T, f flavour) {
			client := f.client(t, &rest.Config{Host: "http://api.test", Transport: tripper(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req}, nil
			})})
			if _, body, err := try(t, client, "http://api.test"+path); body != "" || err != nil {
				t.Errorf("read %q, %v of %s, want nothing", body, err, path)
			}
		})
	}
}

// A transport that returns nothing at all makes an error.
func TestNoResponse(t *testing.T) {
	for _, path := range []string{podPath, podsPath, watchPath} {
		parity(t, func(t *testing.T, f flavour) {
			nothing := tripper(func(*http.Request) (*http.Response, error) { return nil, nil }) //nolint:nilnil // that is the fault
			client := f.client(t, &rest.Config{Host: "http://api.test", Transport: nothing})
			if _, _, err := try(t, client, "http://api.test"+path); err == nil {
				t.Errorf("no error of %s", path)
			}
		})
	}
}

// So does a dialer that returns nothing at all.
func TestDialNothing(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		client := f.client(t, &rest.Config{
			Dial: func(context.Context, string, string) (net.Conn, error) { return nil, nil }, //nolint:nilnil // that is the fault
		})
		if _, _, err := try(t, client, "https://api.test"+podsPath); err == nil {
			t.Error("no error")
		}
	})
}

// While there is no way to the server, watches wait and then go on from where they were, whatever error the dialer has
// for that.
func TestDialErrorIsResumedFrom(t *testing.T) {
	wayTo := func(err error) error { return &net.OpError{Op: "proxyconnect", Net: "tcp", Err: err} }
	for _, err := range []error{
		errors.New("the tunnel is down"),
		&net.DNSError{Err: "no such host", Name: "api.test", IsNotFound: true},
		wayTo(&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")}),
	} {
		t.Run(err.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := newMemoryNetwork()
				objects := newConfigMaps("a")
				srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: objects.serve})
				cfg := srv.config()
				var down atomic.Bool
				cfg.Dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
					if down.Load() {
						return nil, err
					}
					return network.dial(ctx, kind, address)
				}
				tr := wrap(t, cfg, transport.Options{})
				informer := startInformer(t, cfg)
				time.Sleep(10 * time.Second)
				down.Store(true)
				tr.Recycle()
				objects.create("b")
				time.Sleep(10 * time.Second)
				down.Store(false)
				time.Sleep(time.Minute)
				if !holds(informer, "b") {
					t.Error("the informer has not caught up")
				}
				if diff := cmp.Diff([]string{"initial events", "watch from 101"}, objects.asked()); diff != "" {
					t.Errorf("the watch was not resumed (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A path can hold any bytes, a label cannot.
func TestCollectAnyPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newMemoryNetwork()
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: stalling})
		cfg := srv.config()
		cfg.Dial = network.dial
		tr := wrap(t, cfg, transport.Options{})
		open(t, clientFor(t, cfg), srv.url+"/api/v1/namespaces/%ff/pods?watch=true")
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(tr)
		if _, err := registry.Gather(); err != nil {
			t.Error(err)
		}
	})
}

// Of a body that is never closed net/http keeps nothing once the request's context has ended, and so do we.
func TestAbandonedBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newMemoryNetwork()
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: stalling})
		cfg := srv.config()
		cfg.Dial = network.dial
		tr := wrap(t, cfg, transport.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		resp, err := clientFor(t, cfg).Do(newRequest(ctx, t, http.MethodGet, srv.url+watchPath, http.NoBody))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(tr.Streams()); n != 1 || resp.StatusCode != http.StatusOK {
			t.Fatalf("%d watches are open after %s, want 1", n, resp.Status)
		}
		cancel()
		time.Sleep(2 * time.Second)
		if n := len(tr.Streams()); n != 0 {
			t.Errorf("%d watches are open, want none", n)
		}
		if diff := cmp.Diff(map[string]int{"client": 1}, endedWatches(t, tr)); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
	})
}

// A log that takes no more lines keeps no stream from its deadline.
func TestLogThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newMemoryNetwork()
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), handler: stalling})
		cfg := srv.config()
		cfg.Dial = network.dial
		full := make(chan struct{})
		defer close(full)
		tr := wrap(t, cfg, transport.Options{Logger: hangingLog(full)})
		client := clientFor(t, cfg)
		var readers sync.WaitGroup
		for i := range 3 {
			readers.Go(func() {
				if _, _, err := try(t, client, fmt.Sprintf("%s%s&n=%d", srv.url, watchPath, i)); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(10 * time.Minute)
		if n := len(tr.Streams()); n != 0 {
			t.Errorf("%d of 3 silent watches are open, want none", n)
		}
		srv.close()
		readers.Wait()
	})
}

func hangingLog(until <-chan struct{}) logr.Logger {
	return funcr.New(func(string, string) { <-until }, funcr.Options{})
}
