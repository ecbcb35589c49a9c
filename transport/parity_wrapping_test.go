// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	clienttransport "k8s.io/client-go/transport"
)

// Wrappers of the user's, whether they were there before Wrap or came after it, see every request on its way and every
// response on its way back, in client-go's order.
func TestWrapTransport(t *testing.T) {
	tag := func(name string) clienttransport.WrapperFunc {
		return func(rt http.RoundTripper) http.RoundTripper {
			return tripper(func(req *http.Request) (*http.Response, error) {
				req = req.Clone(req.Context())
				req.Header.Add("Passed", name)
				resp, err := rt.RoundTrip(req)
				if err == nil {
					resp.Header.Add("Returned", name)
				}
				return resp, err
			})
		}
	}
	for _, path := range []string{podPath, podsPath, watchPath} {
		t.Run(path, func(t *testing.T) {
			parity(t, func(t *testing.T, f flavour) {
				srv := startServer(t, serverOptions{})
				cfg := srv.config()
				cfg.Wrap(tag("before"))
				f.apply(t, cfg)
				cfg.Wrap(tag("after"))
				resp, _ := get(t, clientFor(t, cfg), srv.url+path)
				if diff := cmp.Diff([]string{"after", "before"}, srv.last(t).Header["Passed"]); diff != "" {
					t.Errorf("wrappers of the request (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{"before", "after"}, resp.Header["Returned"]); diff != "" {
					t.Errorf("wrappers of the response (-want +got):\n%s", diff)
				}
			})
		})
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A transport of the user's own is used, and the rules for watches hold on it: a bounded timeout, and an end that
// client-go resumes from. Without Wrap it has neither, or this test would show nothing. The transport's body is closed in
// both.
func TestCustomTransport(t *testing.T) {
	broken := errors.New("connection torn")
	for _, f := range []flavour{{}, {wrapped: true}} {
		name, wantErr := "stock", broken
		if f.wrapped {
			name, wantErr = "wrapped", nil // ReadAll's word for io.EOF
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var timeout string
				var closed bool
				custom := tripper(func(req *http.Request) (*http.Response, error) {
					timeout = req.URL.Query().Get("timeoutSeconds")
					body := customBody{
						Reader: io.MultiReader(bytes.NewReader([]byte("event")), readerFunc(func([]byte) (int, error) { return 0, broken })),
						close:  func() { closed = true },
					}
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: req}, nil
				})
				client := f.client(t, &rest.Config{Host: "http://api.test", Transport: custom})
				_, body, err := try(t, client, "http://api.test/api/v1/pods?watch=true&timeoutSeconds=600")
				if body != "event" || !errors.Is(err, wantErr) {
					t.Errorf("read %q, %v, want the event and %v", body, err, wantErr)
				}
				if kept := timeout == "600"; kept == f.wrapped {
					t.Errorf("the server was asked for timeoutSeconds=%s", timeout)
				}
				if !closed {
					t.Error("the transport's body is still open")
				}
			})
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type customBody struct {
	io.Reader
	close func()
}

func (b customBody) Close() error {
	b.close()
	return nil
}
