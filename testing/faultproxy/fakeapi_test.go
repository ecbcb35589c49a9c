// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

const (
	mediaJSON     = "application/json"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// fakeAPI is as much of an API server as the proxy can tell from a real one: lists and watches of ConfigMaps in JSON and
// protobuf, encoded by apimachinery, with watch events sent by the test.
type fakeAPI struct {
	*httptest.Server
	list    corev1.ConfigMapList
	streams chan *fakeStream // those opened, in order

	mu   sync.Mutex
	seen []*http.Request
}

// fakeStream is one watch as the server sees it.
type fakeStream struct {
	request *http.Request
	events  chan watch.Event
	end     chan struct{}
	gone    <-chan struct{} // closed when the client has left
}

func newFakeAPI(t *testing.T, names ...string) *fakeAPI {
	t.Helper()
	f := &fakeAPI{streams: make(chan *fakeStream, 64)}
	f.list.ResourceVersion = "100"
	for _, name := range names {
		f.list.Items = append(f.list.Items, *configMap(name, "1"))
	}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	f.EnableHTTP2 = true
	f.StartTLS()
	t.Cleanup(f.Close)
	return f
}

func configMap(name, rv string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", ResourceVersion: rv},
		Data:       map[string]string{"items": `[{"items":[{}]}, "\"}]`, "type": "BOOKMARK"},
	}
}

func bookmark(rv string) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rv}}}
}

func initialEventsEnd(rv string) watch.Event {
	e := bookmark(rv)
	e.Object.(*corev1.ConfigMap).Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return e
}

func modified(name, rv string) watch.Event {
	return watch.Event{Type: watch.Modified, Object: configMap(name, rv)}
}

// config is what a client would use without a proxy.
func (f *fakeAPI) config() *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
	return &rest.Config{Host: f.URL, BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

func (f *fakeAPI) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen = append(f.seen, r)
	f.mu.Unlock()
	media := mediaJSON
	if strings.HasPrefix(r.Header.Get("Accept"), mediaProtobuf) {
		media = mediaProtobuf
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
	objects := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	switch {
	case r.URL.Query().Get("watch") != "":
		f.watch(w, r, info, objects)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", media)
		_ = objects.Encode(f.list.DeepCopy(), w)
	default:
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", media)
		w.WriteHeader(http.StatusCreated)
		_ = objects.Encode(configMap("created", "1"), w)
	}
}

func (f *fakeAPI) watch(w http.ResponseWriter, r *http.Request, info runtime.SerializerInfo, objects runtime.Encoder) {
	media := info.MediaType
	if media != mediaJSON {
		media += ";stream=watch"
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(http.StatusOK)
	flusher := w.(http.Flusher)
	flusher.Flush()
	frames := streaming.NewEncoder(
		info.StreamSerializer.NewFrameWriter(w),
		scheme.Codecs.EncoderForVersion(info.StreamSerializer.Serializer, corev1.SchemeGroupVersion))
	encoder := restwatch.NewEncoder(frames, objects)
	s := &fakeStream{request: r, events: make(chan watch.Event), end: make(chan struct{}), gone: r.Context().Done()}
	f.streams <- s
	for {
		select {
		case e := <-s.events:
			if encoder.Encode(&e) != nil {
				return
			}
			flusher.Flush()
		case <-s.end:
			return
		case <-s.gone:
			return
		}
	}
}

// next returns the next watch that reaches the server.
func (f *fakeAPI) next(t *testing.T) *fakeStream {
	t.Helper()
	select {
	case s := <-f.streams:
		return s
	case <-patient(t).Done():
		t.Fatal("no watch has reached the server")
		return nil
	}
}

// requests returns what the server was asked.
func (f *fakeAPI) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*http.Request(nil), f.seen...)
}

// send sends events to the client.
func (s *fakeStream) send(t *testing.T, events ...watch.Event) {
	t.Helper()
	for _, e := range events {
		select {
		case s.events <- e:
		case <-patient(t).Done():
			t.Fatal("the server could not send an event")
		}
	}
}

// newAPI starts a proxy in front of the server.
func newAPI(t *testing.T, upstream *rest.Config, opts faultproxy.APIOptions) *faultproxy.API {
	t.Helper()
	p, err := faultproxy.NewAPI(upstream, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return p
}
