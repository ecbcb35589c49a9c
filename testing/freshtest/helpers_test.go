// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	widgets    = widgetKind.GVR()

	widgetKind = freshtest.Kind{
		Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets", Namespaced: true, Status: true,
	}
)

// configMap returns a ConfigMap in the default namespace.
func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// widget returns a Widget in the default namespace.
func widget(name string, size int64) *unstructured.Unstructured {
	w := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": size}}}
	w.SetGroupVersionKind(widgetKind.GVK())
	w.SetNamespace("default")
	w.SetName(name)
	return w
}

// start starts a server that also serves widgets, inside a bubble or outside.
func start(t *testing.T, options freshtest.Options) *freshtest.Server {
	t.Helper()
	options.Kinds = append(options.Kinds, widgetKind)
	return freshtest.Start(t, options)
}

// mustCreate stores objects as someone else would.
func mustCreate(t *testing.T, srv *freshtest.Server, objs ...runtime.Object) {
	t.Helper()
	for _, obj := range objs {
		if err := srv.Create(obj); err != nil {
			t.Fatal(err)
		}
	}
}

// typedClient returns a client for the server.
func typedClient(t *testing.T, srv *freshtest.Server) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(srv.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// pass lets time go by in a bubble, until everything has come to rest again.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// rv returns the RV of an object or a list as a number.
func rv(t *testing.T, obj any) uint64 {
	t.Helper()
	var s string
	if l, err := meta.ListAccessor(obj); err == nil {
		s = l.GetResourceVersion()
	} else if o, err := meta.Accessor(obj); err == nil {
		s = o.GetResourceVersion()
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("resourceVersion %q of %T: %v", s, obj, err)
	}
	return n
}

// seen is an event of a watch, and when it came.
type seen struct {
	After time.Duration
	Type  watch.EventType
	Name  string
	RV    uint64
}

// recording is what a watch has delivered.
type recording struct {
	mu     sync.Mutex
	events []seen
	status *metav1.Status
	ended  time.Duration
}

// record collects what a watch delivers, until it ends or the test does.
func record(t *testing.T, w watch.Interface) *recording {
	t.Helper()
	begin := time.Now()
	rec := &recording{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range w.ResultChan() {
			rec.add(time.Since(begin), event)
		}
		rec.mu.Lock()
		defer rec.mu.Unlock()
		rec.ended = time.Since(begin)
	}()
	t.Cleanup(func() {
		w.Stop()
		<-done
	})
	return rec
}

func (r *recording) add(after time.Duration, event watch.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := seen{After: after, Type: event.Type}
	if m, err := meta.Accessor(event.Object); err == nil {
		s.Name = m.GetName()
		s.RV, _ = strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	}
	if status, ok := event.Object.(*metav1.Status); ok {
		r.status = status
	}
	r.events = append(r.events, s)
}

// take returns the events since the last take.
func (r *recording) take() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// end returns when the watch ended, or 0, and the error in it, or nil.
func (r *recording) end() (time.Duration, *metav1.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended, r.status
}

// names returns the events as "TYPE name".
func names(events []seen) []string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Type)+" "+e.Name)
	}
	return out
}

// watchOptions are those of a watch that takes bookmarks.
func watchOptions(resourceVersion uint64, timeout time.Duration) metav1.ListOptions {
	seconds := int64(timeout.Seconds())
	return metav1.ListOptions{
		ResourceVersion:     strconv.FormatUint(resourceVersion, 10),
		AllowWatchBookmarks: true,
		TimeoutSeconds:      &seconds,
	}
}

// watchListOptions are those by which a reflector begins a WatchList.
func watchListOptions(timeout time.Duration) metav1.ListOptions {
	options := watchOptions(0, timeout)
	yes := true
	options.ResourceVersion = ""
	options.SendInitialEvents = &yes
	options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	return options
}

// watchConfigMaps begins a watch of all ConfigMaps and records it.
func watchConfigMaps(t *testing.T, client kubernetes.Interface, options metav1.ListOptions) *recording {
	t.Helper()
	w, err := client.CoreV1().ConfigMaps("").Watch(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	rec := record(t, w)
	return rec
}

// listConfigMaps makes a consistent list that finds nothing, and returns its RV.
func listConfigMaps(t *testing.T, client kubernetes.Interface) uint64 {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("nowhere").List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	return rv(t, list)
}

// kindOf returns the kind of an object in JSON, or nothing if it is none.
func kindOf(body []byte) string {
	var object metav1.TypeMeta
	if err := json.Unmarshal(body, &object); err != nil {
		return ""
	}
	return object.Kind
}
