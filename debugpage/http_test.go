// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/freshwatch/freshwatch/internal/snapshots"
)

func TestNegotiation(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
	for _, tt := range []struct {
		name, target string
		accept       []string
		want         string
		status       int
	}{
		{"nothing said", "/", nil, "text/html; charset=utf-8", 200},
		{"browser", "/", []string{browser}, "text/html; charset=utf-8", 200},
		{"curl", "/", []string{"*/*"}, "text/html; charset=utf-8", 200},
		{"kubectl get --raw", "/", []string{"application/json, */*"}, "application/json", 200},
		{"program", "/", []string{"application/json"}, "application/json", 200},
		{"program with parameters", "/", []string{"application/json; charset=utf-8"}, "application/json", 200},
		{"capitals", "/", []string{"Application/JSON"}, "application/json", 200},
		{"several lines", "/", []string{"text/html;q=0.2", "application/json;q=0.3"}, "application/json", 200},
		{"weights", "/", []string{"application/json;q=0.5, text/html;q=0.9"}, "text/html; charset=utf-8", 200},
		{"weight of the more exact counts", "/", []string{"text/*, text/html;q=0.1, application/json;q=0.5"}, "application/json", 200},
		{"any text", "/", []string{"text/*"}, "text/html; charset=utf-8", 200},
		{"refused html", "/", []string{"text/html;q=0, */*"}, "application/json", 200},
		{"garbage", "/", []string{";;;,"}, "text/html; charset=utf-8", 200},
		{"garbage weight", "/", []string{"application/json;q=zzz, text/html;q=0.1"}, "text/html; charset=utf-8", 200},
		{"weight that is no number", "/", []string{"application/json;q=NaN, text/html;q=0.1"}, "text/html; charset=utf-8", 200},
		{"neither", "/", []string{"image/png"}, "text/plain; charset=utf-8", 406},
		{"both refused", "/", []string{"*/*;q=0"}, "text/plain; charset=utf-8", 406},
		{"by query", "/?format=json", []string{browser}, "application/json", 200},
		{"by query, html", "/?format=html", []string{"application/json"}, "text/html; charset=utf-8", 200},
		{"unknown query", "/?format=xml", []string{browser}, "text/plain; charset=utf-8", 400},
		{"other query", "/?refresh=off&x=y", []string{browser}, "text/html; charset=utf-8", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var headers []string
			for _, a := range tt.accept {
				headers = append(headers, "Accept", a)
			}
			r := get(newPage(t, snapshots.Healthy()), tt.target, headers...)
			if r.StatusCode != tt.status || r.Header.Get("Content-Type") != tt.want {
				t.Errorf("%d, %s, want %d, %s", r.StatusCode, r.Header.Get("Content-Type"), tt.status, tt.want)
			}
		})
	}
}

func TestCompression(t *testing.T) {
	for accept, want := range map[string]string{
		"": "", "br": "", "gzip": "gzip", "GZIP": "gzip", "br;q=1.0, gzip;q=0.8": "gzip", "gzip;q=0": "", "gzip; q=0.0": "", "gzipped": "", "gzip;q=x": "", "*": "",
	} {
		if got := get(newPage(t, snapshots.Healthy()), "/", "Accept-Encoding", accept).Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q: %q, want %q", accept, got, want)
		}
	}
	tiny := get(newPage(t, snapshots.Empty()), "/?format=json", "Accept-Encoding", "gzip")
	if got := tiny.Header.Get("Content-Encoding"); got != "" {
		t.Errorf("an answer of %s bytes is compressed", tiny.Header.Get("Content-Length"))
	}
}

func TestMethods(t *testing.T) {
	server := httptest.NewServer(newPage(t, snapshots.Healthy()))
	defer server.Close()
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace} {
		for _, target := range []string{"/", "/?format=json"} {
			r, err := http.NewRequestWithContext(t.Context(), method, server.URL+target, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", "identity")
			resp, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text := body(t, resp)
			_ = resp.Body.Close()
			switch method {
			case http.MethodGet:
				length := resp.Header.Get("Content-Length")
				if resp.StatusCode != 200 || text == "" || length != fmt.Sprint(len(text)) {
					t.Errorf("GET %s: %s, %d bytes, Content-Length %s", target, resp.Status, len(text), length)
				}
			case http.MethodHead:
				if resp.StatusCode != 200 || text != "" || resp.Header.Get("Content-Length") == "0" {
					t.Errorf("HEAD %s: %s, %d bytes, Content-Length %s", target, resp.Status, len(text), resp.Header.Get("Content-Length"))
				}
			default:
				if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
					t.Errorf("%s %s: %s, Allow %q", method, target, resp.Status, resp.Header.Get("Allow"))
				}
			}
		}
	}
}

// TestHeaders: every answer has them, and the policy allows the style and the script that
// the page has, by their hashes, and no others.
func TestHeaders(t *testing.T) {
	h := newPage(t, snapshots.Healthy())
	page := get(h, "/")
	text := body(t, page)
	found := assets.FindAllString(text, -1)
	if len(found) != 2 || strings.Count(text, "<script") != 1 || strings.Count(text, "<style") != 1 {
		t.Fatalf("the page has %d styles and scripts, want one of each", len(found))
	}
	policy := page.Header.Get("Content-Security-Policy")
	for kind, element := range map[string]string{"style-src": found[0], "script-src": found[1]} {
		_, inner, _ := strings.Cut(element, ">")
		inner = inner[:strings.LastIndex(inner, "<")]
		if !strings.Contains(policy, kind+" "+hash(inner)+";") {
			t.Errorf("the policy does not allow what the page has as %s, but is\n%s", kind, policy)
		}
	}
	for _, want := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "connect-src 'self'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
	for _, not := range []string{"unsafe", "http:", "https:", "*"} {
		if strings.Contains(policy, not) {
			t.Errorf("the policy has %s: %s", not, policy)
		}
	}
	for _, not := range []string{" style=", " onclick", " onload", "javascript:", "src="} {
		if strings.Contains(assets.ReplaceAllString(text, ""), not) {
			t.Errorf("the page has %q, which its policy forbids", not)
		}
	}
	for _, r := range []*http.Response{page, get(h, "/?format=json"), get(h, "/?format=no"), get(h, "/", "Accept", "image/png")} {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Content-Security-Policy": policy, "Cross-Origin-Resource-Policy": "same-origin", "Vary": "Accept, Accept-Encoding",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", r.Status, name, got, want)
			}
		}
		if got := r.Header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("other sites may read it: %q", got)
		}
	}
}

// TestNothingIsReflected: nothing of a request comes back in its answer.
func TestNothingIsReflected(t *testing.T) {
	const mark = "zzmarkzz"
	h := newPage(t, snapshots.Healthy())
	for _, target := range []string{"/" + mark, "/?format=" + mark, "/?refresh=" + mark, "/?" + mark + "=1", "/?format=json&x=" + mark} {
		r := get(h, target, "X-Forwarded-Host", mark, "User-Agent", mark, "Referer", "http://"+mark, "Cookie", "a="+mark, "Authorization", "Bearer "+mark)
		if strings.Contains(body(t, r), mark) || strings.Contains(fmt.Sprint(r.Header), mark) {
			t.Errorf("%s: reflected", target)
		}
	}
}

func TestRefreshOff(t *testing.T) {
	h := newPage(t, snapshots.Healthy())
	const meta = `<noscript><meta http-equiv="refresh" content="5"></noscript>`
	if text := body(t, get(h, "/")); !strings.Contains(text, meta) || !strings.Contains(text, `data-refresh="5000"`) {
		t.Error("the page does not refresh itself")
	}
	if text := body(t, get(h, "/?refresh=off")); strings.Contains(text, "http-equiv") || strings.Contains(text, "data-refresh=") {
		t.Error("the page refreshes itself though it was told not to")
	}
}
