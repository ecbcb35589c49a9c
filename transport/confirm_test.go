// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// says is a transport that answers everything with one status.
func says(status int) http.RoundTripper {
	return roundTripFunc(func(req *http.Request) (*http.Response, error) {
		elsewhere := http.Header{"Location": {"https://elsewhere"}} // not to be followed
		return &http.Response{StatusCode: status, Header: elsewhere, Body: http.NoBody, Request: req}, nil
	})
}

// dueRow is a row of 401s that is long enough at its end, after 90 s.
func dueRow() []seen { return every(10*time.Second, 0, 90*time.Second) }

// What the API server itself says to a credential that was refused for long
// enough.
func TestExitIsConfirmed(t *testing.T) {
	const s = time.Second
	fails := roundTripFunc(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") })
	panics := roundTripFunc(func(*http.Request) (*http.Response, error) { panic("oh") })
	tests := []struct {
		name string
		api  http.RoundTripper
		ends bool // the row
		exit time.Duration
	}{
		{"refuses it", says(401), false, 90 * s},
		{"accepts it", says(200), true, -1},
		{"forbids", says(403), true, -1},
		{"knows no such path", says(404), true, -1},
		{"is busy", says(429), true, -1},
		{"sends elsewhere", says(302), true, -1},
		{"fails", says(500), false, -1},
		{"is not ready", says(503), false, -1},
		{"is behind a proxy that asks for a password", says(407), false, -1},
		{"cannot be reached", fails, false, -1},
		{"is behind a transport that panics", panics, false, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHistory(t, &rest.Config{Host: testAPI, BearerToken: "mine"}, &ExitOptions{})
				h.api = tt.api
				h.play(dueRow())
				time.Sleep(confirmTimeout) // of the bubble: what a panic leaves behind ends by then
				h.wantExit(tt.exit, "")
				if h.u.suspects() == tt.ends {
					t.Errorf("the row of 401s has ended: %v, want %v", !h.u.suspects(), tt.ends)
				}
			})
		})
	}
}

// slowAPI answers when it is told to, or never.
type slowAPI struct {
	asked  int
	answer chan int
}

func (a *slowAPI) RoundTrip(req *http.Request) (*http.Response, error) {
	a.asked++
	select {
	case status := <-a.answer:
		return says(status).RoundTrip(req)
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// What happens between the question and its answer, which is 401.
func TestConfirmationCanComeTooLate(t *testing.T) {
	const s = time.Second
	write := func(at time.Duration, token string) seen {
		return seen{at: at, do: func(h *history) { writeTokenFile(h.t, h.file, token) }}
	}
	tests := []struct {
		name string
		seen []seen // from 90 s on
		exit time.Duration
	}{
		{"nothing", nil, 90 * s},
		{"more of the same", every(s, 91*s, 95*s), 95 * s},
		{"a success", then(ok(91 * s)), -1},
		{"a success, and another 401", then(ok(91*s), old(92*s)), -1},
		{"a new token, not seen yet", then(write(91*s, "new")), 91 * s},
		{"a new token, refused", then(write(91*s, "new"), with("new", old(92*s))), -1},
		{"shut down", then(shutDown(91 * s)), -1},
		{"an error", then(answered(91*s, 503)), 91 * s},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "token")
				writeTokenFile(t, file, "mine")
				h := newHistory(t, &rest.Config{Host: testAPI, BearerTokenFile: file}, &ExitOptions{})
				api := &slowAPI{answer: make(chan int)}
				h.api = api
				h.play(dueRow())
				h.play(tt.seen)
				api.answer <- http.StatusUnauthorized
				synctest.Wait()
				h.wantExit(tt.exit, "")
				if api.asked != 1 {
					t.Errorf("asked %d times, want once", api.asked)
				}
			})
		})
	}
}

// Without an answer the next 401 asks again, but not at once.
func TestConfirmationIsRepeated(t *testing.T) {
	const s = time.Second
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, &rest.Config{Host: testAPI, BearerToken: "mine"}, &ExitOptions{})
		api := &slowAPI{answer: make(chan int)}
		h.api = api
		began := time.Now()
		h.play(dueRow())
		for _, step := range []struct {
			at   time.Duration
			want int
		}{
			{90 * s, 1}, {91 * s, 1}, {100*s - 1, 1}, {100 * s, 2}, {105 * s, 2}, {120 * s, 3},
		} {
			time.Sleep(time.Until(began.Add(step.at))) // of the bubble, which the question's own timeout goes by
			h.play(then(old(step.at)))
			if api.asked != step.want {
				t.Errorf("at %v: asked %d times, want %d", step.at, api.asked, step.want)
			}
		}
		h.wantExit(-1, "nobody has answered")
		api.answer <- http.StatusUnauthorized
		synctest.Wait()
		h.wantExit(120*s, "")
	})
}

// A transport can be deaf to contexts. It is left behind, and the next one asked.
func TestConfirmationSurvivesItsTransport(t *testing.T) {
	const s = time.Second
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, &rest.Config{Host: testAPI, BearerToken: "mine"}, &ExitOptions{})
		release := make(chan struct{})
		defer close(release)
		h.api = roundTripFunc(func(req *http.Request) (*http.Response, error) {
			<-release
			return says(http.StatusUnauthorized).RoundTrip(req)
		})
		h.play(dueRow())
		time.Sleep(confirmTimeout)
		h.wantExit(-1, "nobody has answered")
		h.api = says(http.StatusUnauthorized)
		h.play(then(old(101 * s)))
		h.wantExit(101*s, "")
	})
}

func TestImmediateAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, &rest.Config{Host: testAPI, BearerToken: "mine"}, &ExitOptions{Immediate: true})
		h.api = roundTripFunc(func(*http.Request) (*http.Response, error) {
			t.Error("the API server was asked")
			return nil, io.EOF
		})
		h.play(then(old(0)))
		h.wantExit(0, "")
	})
}

// The question carries the credential and nothing else of the request, to where
// the config leads.
func TestConfirmationRequest(t *testing.T) {
	type sent struct {
		Method, URL string
		Header      http.Header
	}
	for _, tt := range []struct {
		name, host, asked, token string
		want                     sent
	}{
		{"token", testAPI, testAPI + "/apis/metrics.k8s.io/v1beta1/pods?limit=1", "mine",
			sent{"GET", testAPI + "/api", http.Header{"Authorization": {"Bearer mine"}}}},
		{"base path", "https://rancher/k8s/clusters/c-1/", "https://rancher/k8s/clusters/c-1/apis/metrics.k8s.io/v1beta1/pods", "mine",
			sent{"GET", "https://rancher/k8s/clusters/c-1/api", http.Header{"Authorization": {"Bearer mine"}}}},
		{"certificate", testAPI, testAPI + "/api/v1/pods", "-",
			sent{"GET", testAPI + "/api", http.Header{}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cred, err := newCredential(&rest.Config{Host: tt.host, BearerToken: "mine"})
			if err != nil {
				t.Fatal(err)
			}
			req := newTestRequest(t, tt.asked, tt.token)
			req.Method = http.MethodPost
			req.Header.Set("User-Agent", "operator")
			req.Header.Set("Impersonate-User", "jane")
			req = req.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{}))

			var got sent
			body := &readOnce{Reader: strings.NewReader(`{"kind":"APIVersions"}`)}
			status, err := cred.confirmationOf(req, roundTripFunc(func(req *http.Request) (*http.Response, error) {
				got = sent{req.Method, req.URL.String(), req.Header}
				if httptrace.ContextClientTrace(req.Context()) != nil {
					t.Error("the request's trace sees the question")
				}
				return &http.Response{StatusCode: http.StatusForbidden, Body: body}, nil
			})).ask()
			if status != http.StatusForbidden || err != nil {
				t.Errorf("ask() = %d, %v", status, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if !body.closed || body.Reader.(*strings.Reader).Len() > 0 {
				t.Error("the answer's body was not read and closed")
			}
		})
	}
}

type readOnce struct {
	io.Reader
	closed bool
}

func (r *readOnce) Close() error { r.closed = true; return nil }

func TestConfirmationIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name string
		deaf bool // to contexts
	}{
		{"no answer", false},
		{"no answer, whatever the context says", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cred, err := newCredential(&rest.Config{Host: testAPI, BearerToken: "mine"})
				if err != nil {
					t.Fatal(err)
				}
				release := make(chan struct{})
				defer close(release)
				began := time.Now()
				status, err := cred.confirmationOf(newTestRequest(t, testAPI, "mine"), roundTripFunc(func(req *http.Request) (*http.Response, error) {
					if tt.deaf {
						<-release
					}
					return (&slowAPI{}).RoundTrip(req)
				})).ask()
				if took := time.Since(began); took != confirmTimeout || err == nil {
					t.Errorf("ask() = %d, %v after %v, want an error after %v", status, err, took, confirmTimeout)
				}
			})
		})
	}
}
