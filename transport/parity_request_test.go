// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

const (
	podPath   = "/api/v1/namespaces/default/pods/p"
	podsPath  = "/api/v1/namespaces/default/pods"
	watchPath = podsPath + "?watch=true&timeoutSeconds=60"
	logPath   = podPath + "/log"
)

// What a config says about headers is what the server sees: the same with and without Wrap, and what is wanted.
func TestHeaders(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*rest.Config)
		want   http.Header
	}{
		{"nothing", func(*rest.Config) {}, http.Header{
			"User-Agent":      {"Go-http-client/2.0"},
			"Accept-Encoding": {"gzip"},
		}},
		{"user agent", func(cfg *rest.Config) { cfg.UserAgent = "operator/1.2" }, http.Header{
			"User-Agent": {"operator/1.2"}, "Accept-Encoding": {"gzip"},
		}},
		{"no compression", func(cfg *rest.Config) { cfg.DisableCompression = true }, http.Header{
			"User-Agent": {"Go-http-client/2.0"},
		}},
		{"basic authentication", func(cfg *rest.Config) { cfg.Username, cfg.Password = "user", "secret" }, http.Header{
			"User-Agent": {"Go-http-client/2.0"}, "Accept-Encoding": {"gzip"}, "Authorization": {"Basic dXNlcjpzZWNyZXQ="},
		}},
		{"bearer token", func(cfg *rest.Config) { cfg.BearerToken = "secret" }, http.Header{
			"User-Agent": {"Go-http-client/2.0"}, "Accept-Encoding": {"gzip"}, "Authorization": {"Bearer secret"},
		}},
		{"impersonation", func(cfg *rest.Config) {
			cfg.BearerToken = "secret"
			cfg.Impersonate = rest.ImpersonationConfig{
				UserName: "jane", UID: "u1", Groups: []string{"one", "two"}, Extra: map[string][]string{"scopes.example": {"view"}},
			}
		}, http.Header{
			"User-Agent": {"Go-http-client/2.0"}, "Accept-Encoding": {"gzip"}, "Authorization": {"Bearer secret"},
			"Impersonate-User": {"jane"}, "Impersonate-Uid": {"u1"}, "Impersonate-Group": {"one", "two"},
			"Impersonate-Extra-Scopes.example": {"view"},
		}},
	} {
		for _, path := range []string{podPath, podsPath, watchPath} {
			t.Run(tc.name+" "+path, func(t *testing.T) {
				parity(t, func(t *testing.T, f flavour) {
					srv := startServer(t, serverOptions{})
					cfg := srv.config()
					tc.change(cfg)
					get(t, f.client(t, cfg), srv.url+path)
					if diff := cmp.Diff(tc.want, srv.last(t).Header); diff != "" {
						t.Errorf("headers on the server (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// A compressed response is unpacked without the caller's doing, of a watch event by event.
func TestCompression(t *testing.T) {
	for _, path := range []string{podPath, podsPath, watchPath} {
		t.Run(path, func(t *testing.T) {
			parity(t, func(t *testing.T, f flavour) {
				next := make(chan struct{})
				srv := startServer(t, serverOptions{handler: func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Encoding", "gzip")
					packed := gzip.NewWriter(w)
					defer packed.Close()
					_, _ = io.WriteString(packed, "first ")
					_ = packed.Flush()
					send(w, "")
					<-next
					_, _ = io.WriteString(packed, "second")
				}})
				body := open(t, f.client(t, srv.config()), srv.url+path)
				first, err := readSome(body)
				close(next)
				if err != nil || first != "first " {
					t.Fatalf("read %q, %v before the response had ended", first, err)
				}
				if left, err := io.ReadAll(body); err != nil || string(left) != "second" {
					t.Errorf("read %q, %v at the end", left, err)
				}
			})
		})
	}
}

// What a server says beside the body arrives: status, headers, and warnings, which go to the config's handler.
func TestResponseHeadersAndWarnings(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		srv := startServer(t, serverOptions{handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Audit-Id", "42")
			w.Header().Set("Warning", `299 - "pods are deprecated"`)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
		}})
		var warnings warningLog
		cfg := srv.config()
		cfg.WarningHandler = &warnings
		f.apply(t, cfg)
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		pods := client.Resource(configMapsResource.GroupVersion().WithResource("pods")).Namespace("default")
		if _, err := pods.List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		w, err := pods.Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.Stop()
		for range w.ResultChan() { // until its goroutine has ended
		}
		want := warningLog{"pods are deprecated", "pods are deprecated"}
		if diff := cmp.Diff(want, warnings); diff != "" {
			t.Errorf("warnings of a list and a watch (-want +got):\n%s", diff)
		}
		resp, _ := get(t, clientFor(t, cfg), srv.url+watchPath)
		if resp.Header.Get("Audit-Id") != "42" || resp.TLS == nil || resp.Proto != "HTTP/2.0" {
			t.Errorf("the response has headers %v, protocol %s, TLS %v", resp.Header, resp.Proto, resp.TLS)
		}
	})
}

type warningLog []string

func (l *warningLog) HandleWarningHeader(_ int, _, text string) { *l = append(*l, text) }

// An answer that is an error arrives as it is, that to a list or watch too.
func TestErrorStatus(t *testing.T) {
	for _, path := range []string{podPath, podsPath, watchPath} {
		t.Run(path, func(t *testing.T) {
			parity(t, func(t *testing.T, f flavour) {
				var status atomic.Int32
				srv := startServer(t, serverOptions{handler: func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Retry-After", "7")
					http.Error(w, "no", int(status.Load()))
				}})
				client := f.client(t, srv.config())
				for _, code := range []int{400, 401, 403, 404, 409, 410, 429, 500, 503, 504} {
					status.Store(int32(code))
					resp, body := get(t, client, srv.url+path)
					if resp.StatusCode != code || body != "no\n" || resp.Header.Get("Retry-After") != "7" {
						t.Errorf("%d arrived as %s with %q and %v", code, resp.Status, body, resp.Header)
					}
				}
			})
		})
	}
}

// A request's body reaches the server, and can be sent again.
func TestRequestBody(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		srv := startServer(t, serverOptions{handler: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/moved" {
				http.Redirect(w, r, podsPath, http.StatusTemporaryRedirect)
			}
		}})
		req := newRequest(t.Context(), t, http.MethodPost, srv.url+"/moved", strings.NewReader("an object"))
		resp, err := f.client(t, srv.config()).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		for _, r := range srv.requests() {
			if r.Method != http.MethodPost || r.Body != "an object" {
				t.Errorf("%s %s arrived with the body %q", r.Method, r.URI, r.Body)
			}
		}
		if got := len(srv.requests()); got != 2 {
			t.Errorf("%d requests, want 2", got)
		}
	})
}
