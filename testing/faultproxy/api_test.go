// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// format is one of those that watches and lists are read in.
type format struct {
	name, contentType string
	http1             bool
}

var formats = []format{
	{"json", mediaJSON, false},
	{"protobuf", mediaProtobuf, false},
	{"json over HTTP/1.1", mediaJSON, true},
	{"protobuf over HTTP/1.1", mediaProtobuf, true},
}

// start starts an API server, a proxy and a client that asks for the format.
func (format format) start(t *testing.T) (*fakeAPI, *faultproxy.API, *client) {
	t.Helper()
	f := newFakeAPI(t, "a", "b", "c")
	p := newAPI(t, f.config(), faultproxy.APIOptions{HTTP1Only: format.http1})
	cfg := p.Config(f.config())
	cfg.ContentType = format.contentType
	return f, p, newClient(t, cfg)
}

func TestAPIPassesWhatItHasNoFaultFor(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			f, _, c := format.start(t)
			list, err := c.CoreV1().ConfigMaps("default").List(patient(t), metav1.ListOptions{Limit: 500})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(f.list.Items, list.Items); diff != "" {
				t.Errorf("list changed on the way (-want +got):\n%s", diff)
			}
			w := c.watch(t, metav1.ListOptions{ResourceVersion: "100", TimeoutSeconds: new(int64(300)), AllowWatchBookmarks: true})
			s := f.next(t)
			want := modified("a", "101")
			s.send(t, want, bookmark("102"))
			if diff := cmp.Diff(want.Object, w.next(t).Object); diff != "" {
				t.Errorf("event changed on the way (-want +got):\n%s", diff)
			}
			if got := w.rv(t); got != "BOOKMARK 102" {
				t.Errorf("got %s, want the bookmark", got)
			}
			if _, err := c.CoreV1().ConfigMaps("default").Create(patient(t), configMap("d", ""), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, r := range f.requests() {
				if r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("Accept-Encoding") != "" {
					t.Errorf("the server got Authorization %q, Accept-Encoding %q", r.Header["Authorization"], r.Header["Accept-Encoding"])
				}
			}
			close(s.end)
			w.ended(t)
		})
	}
}

func TestAPICounts(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			f, p, c := format.start(t)
			if _, err := c.CoreV1().ConfigMaps("default").List(patient(t), metav1.ListOptions{Limit: 500}); err != nil {
				t.Fatal(err)
			}
			w := c.watch(t, metav1.ListOptions{SendInitialEvents: new(true), AllowWatchBookmarks: true})
			s := f.next(t)
			added := watch.Event{Type: watch.Added, Object: configMap("a", "1")}
			s.send(t, added, added, initialEventsEnd("100"), added, modified("a", "101"), bookmark("102"))
			for range 6 {
				w.next(t)
			}
			if _, err := c.CoreV1().ConfigMaps("default").Create(patient(t), configMap("d", ""), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			all := faultproxy.Match{Group: "core", Resource: "configmaps"}
			eventually(t, "two requests to end", func() bool { return p.Counts(all).Open == 1 })

			got := p.Counts(all)
			if got.BytesUp == 0 || got.BytesDown == 0 {
				t.Errorf("no bytes: %+v", got)
			}
			got.BytesUp, got.BytesDown = 0, 0
			want := faultproxy.Counts{
				Requests: 3, Open: 1, Responses: map[int]int64{200: 1, 201: 1},
				ListObjects: 3, InitialObjects: 2, Events: 2, Bookmarks: 2,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if got := got.Relisted(); got != 5 {
				t.Errorf("Relisted() = %d, want 5", got)
			}
			if got := p.Counts(faultproxy.Match{Resource: "secrets"}); got.Requests != 0 {
				t.Errorf("requests for what nobody asked for: %+v", got)
			}
			close(s.end)
			w.ended(t)
		})
	}
}

func TestAPIRequests(t *testing.T) {
	f := newFakeAPI(t, "a", "b")
	p := newAPI(t, f.config(), faultproxy.APIOptions{Users: map[string]string{"secret": "alice"}, RequestLimit: 3})
	cfg := p.Config(f.config())
	cfg.UserAgent = "operator/1"
	c := newClient(t, cfg)
	for range 3 {
		_, err := c.CoreV1().ConfigMaps("default").List(patient(t), metav1.ListOptions{
			ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Limit: 1,
			FieldSelector: "metadata.name=a", LabelSelector: "x=y",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w := c.watchIn(t, "default", metav1.ListOptions{
		ResourceVersion: "100", SendInitialEvents: new(true), TimeoutSeconds: new(int64(200)), AllowWatchBookmarks: true,
	})
	f.next(t).send(t, modified("a", "101"))
	w.next(t)

	requests := p.Requests(faultproxy.Match{User: "alice", UserAgent: "operator"})
	if len(requests) != 3 {
		t.Fatalf("%d requests are remembered, want the limit of 3", len(requests))
	}
	list, open := requests[1], requests[2]
	if list.Open || list.Duration <= 0 || list.BytesDown == 0 || list.FirstByte <= 0 || list.LastByte < list.FirstByte {
		t.Errorf("finished list: %+v", list)
	}
	if !open.Open || open.Events != 1 || open.Protocol != "HTTP/2.0" || open.TimeoutSeconds != 200 || !open.SendInitialEvents {
		t.Errorf("open watch: %+v", open)
	}
	want := faultproxy.Request{
		ID: 3, Method: http.MethodGet, Path: "/api/v1/namespaces/default/configmaps",
		Verb: "list", Version: "v1", Resource: "configmaps", Namespace: "default", Name: "a",
		User: "alice", UserAgent: "operator/1", Protocol: "HTTP/2.0",
		ResourceVersion: "7", ResourceVersionMatch: "NotOlderThan", FieldSelector: "metadata.name=a", LabelSelector: "x=y",
		Limit: 1, Status: http.StatusOK, Objects: 2,
	}
	list.Start, list.Duration, list.FirstByte, list.LastByte, list.Client, list.BytesDown = want.Start, 0, 0, 0, "", 0
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestAPIConfig(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	base := &rest.Config{
		Host: "https://elsewhere", BearerToken: "token", UserAgent: "agent", QPS: 7, ContentConfig: rest.ContentConfig{ContentType: mediaProtobuf},
		TLSClientConfig: rest.TLSClientConfig{CertData: []byte("cert"), KeyData: []byte("key"), CAFile: "ca", Insecure: true, ServerName: "n"},
	}
	got := p.Config(base)
	want := rest.CopyConfig(base)
	want.Host = p.URL()
	want.TLSClientConfig = rest.TLSClientConfig{CAData: p.CA()}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if base.Host != "https://elsewhere" || !base.Insecure {
		t.Error("the config passed in was changed")
	}
}

func TestNewAPIValidates(t *testing.T) {
	good := &rest.Config{Host: "https://127.0.0.1:1"}
	for _, tc := range []struct {
		name     string
		upstream *rest.Config
		opts     faultproxy.APIOptions
		want     string
	}{
		{"no upstream", nil, faultproxy.APIOptions{}, "upstream"},
		{"bad host", &rest.Config{Host: "http://\x7f"}, faultproxy.APIOptions{}, "upstream.Host"},
		{"bad CA", &rest.Config{Host: "https://h", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x")}}, faultproxy.APIOptions{}, "TLS"},
		{"negative limit", good, faultproxy.APIOptions{RequestLimit: -1}, "APIOptions.RequestLimit -1"},
		{"Via without a port", good, faultproxy.APIOptions{Via: "localhost"}, `APIOptions.Via "localhost"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := faultproxy.NewAPI(tc.upstream, tc.opts)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one that names %s", err, tc.want)
			}
		})
	}
}

// The server sees anonymous requests unless the proxy is told to sign them.
func TestAPIUseUpstreamCredentials(t *testing.T) {
	f := newFakeAPI(t)
	anonymous := rest.AnonymousClientConfig(f.config())
	for _, tc := range []struct {
		sign bool
		want string
	}{{false, ""}, {true, "Bearer secret"}} {
		p := newAPI(t, f.config(), faultproxy.APIOptions{UseUpstreamCredentials: tc.sign})
		c := newClient(t, p.Config(anonymous))
		if _, err := c.CoreV1().ConfigMaps("").List(patient(t), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		seen := f.requests()
		if got := seen[len(seen)-1].Header.Get("Authorization"); got != tc.want {
			t.Errorf("UseUpstreamCredentials %v: Authorization %q, want %q", tc.sign, got, tc.want)
		}
	}
}

// Without an upstream the answer is that of a proxy, in the form that clients understand.
func TestAPIUpstreamDown(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	c := newClient(t, p.Config(f.config()))
	f.Close()
	var err error
	_, err = c.CoreV1().ConfigMaps("").List(patient(t), metav1.ListOptions{})
	if code := statusCode(err); code != http.StatusBadGateway {
		t.Errorf("error %v with status %d, want 502", err, code)
	}
	eventually(t, "the request to be counted", func() bool {
		return p.Counts(faultproxy.Match{}).Responses[http.StatusBadGateway] == 1
	})
}

func TestAPIUpstreamSpeaksHTTP1(t *testing.T) {
	f := newFakeAPI(t)
	f.Close()
	f.Server = httptest.NewTLSServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	w := newClient(t, p.Config(f.config())).watch(t, metav1.ListOptions{})
	s := f.next(t)
	s.send(t, modified("a", "1"))
	if got := w.rv(t); got != "MODIFIED 1" || s.request.ProtoMajor != 1 {
		t.Errorf("got %s from %s", got, s.request.Proto)
	}
}

// A list is delivered while it is read: the proxy keeps nothing back.
func TestAPIStreamsLargeLists(t *testing.T) {
	f := newFakeAPI(t)
	const objects = 5000 // a few MB
	for range objects {
		f.list.Items = append(f.list.Items, *configMap("x", "1"))
	}
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	for _, media := range []string{mediaJSON, mediaProtobuf} {
		cfg := p.Config(f.config())
		cfg.ContentType = media
		cfg.UserAgent = media
		list, err := newClient(t, cfg).CoreV1().ConfigMaps("").List(patient(t), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		counted := func() int64 { return p.Counts(faultproxy.Match{UserAgent: media}).ListObjects }
		if got := counted(); len(list.Items) != objects || got != objects {
			t.Errorf("%s: %d objects arrived and %d were counted, want %d", media, len(list.Items), got, objects)
		}
	}
}

func TestAPICloseEndsEverything(t *testing.T) {
	f := newFakeAPI(t)
	p, err := faultproxy.NewAPI(f.config(), faultproxy.APIOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, p.Config(f.config()))
	w := c.watch(t, metav1.ListOptions{})
	s := f.next(t)
	inj := p.Inject(faultproxy.Match{}, faultproxy.Silence{})
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	<-inj.Done()
	<-s.gone
	for range w.ResultChan() { // ends, with an error event or without
	}
	late := p.Inject(faultproxy.Match{}, faultproxy.Silence{})
	<-late.Done()
	if err := p.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}
