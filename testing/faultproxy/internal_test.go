// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestParseAttributes(t *testing.T) {
	for _, tc := range []struct {
		method, target string
		want           attributes
	}{
		{"GET", "/api/v1/configmaps", attributes{verb: "list", version: "v1", resource: "configmaps"}},
		{"GET", "/api/v1/configmaps?watch=true&resourceVersion=5&sendInitialEvents=true", attributes{
			verb: "watch", version: "v1", resource: "configmaps",
			query: listQuery{resourceVersion: "5", sendInitialEvents: true},
		}},
		{"GET", "/api/v1/configmaps?watch=false", attributes{verb: "list", version: "v1", resource: "configmaps"}},
		{"GET", "/api/v1/watch/configmaps", attributes{verb: "watch", version: "v1", resource: "configmaps"}},
		{"GET", "/api/v1/namespaces/ns/pods/p", attributes{verb: "get", version: "v1", resource: "pods", namespace: "ns", name: "p"}},
		{"GET", "/api/v1/namespaces/ns", attributes{verb: "get", version: "v1", resource: "namespaces", namespace: "ns", name: "ns"}},
		{"GET", "/api/v1/namespaces", attributes{verb: "list", version: "v1", resource: "namespaces"}},
		{"PUT", "/api/v1/namespaces/ns/finalize", attributes{
			verb: "update", version: "v1", resource: "namespaces", subresource: "finalize", namespace: "ns", name: "ns",
		}},
		{"PATCH", "/apis/example.com/v1beta1/namespaces/ns/widgets/w/status", attributes{
			verb: "patch", group: "example.com", version: "v1beta1", resource: "widgets", subresource: "status", namespace: "ns", name: "w",
		}},
		{"POST", "/apis/apps/v1/namespaces/ns/deployments", attributes{
			verb: "create", group: "apps", version: "v1", resource: "deployments", namespace: "ns",
		}},
		{"DELETE", "/api/v1/nodes/n", attributes{verb: "delete", version: "v1", resource: "nodes", name: "n"}},
		{"DELETE", "/api/v1/nodes", attributes{verb: "deletecollection", version: "v1", resource: "nodes"}},
		{"GET", "/api/v1/nodes?fieldSelector=spec.x%3Dy,metadata.name%3D%3Dn", attributes{
			verb: "list", version: "v1", resource: "nodes", name: "n", query: listQuery{fieldSelector: "spec.x=y,metadata.name==n"},
		}},
		{"GET", "/readyz", attributes{verb: "get"}},
		{"GET", "/", attributes{verb: "get"}},
		{"GET", "/api/v1", attributes{verb: "get"}},
		{"GET", "/apis/apps/v1", attributes{verb: "get"}},
	} {
		t.Run(tc.method+" "+tc.target, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.target, nil)
			got := parseAttributes(r, nil)
			tc.want.method, tc.want.path, tc.want.user = tc.method, r.URL.Path, anonymous
			if diff := cmp.Diff(&tc.want, got, cmp.AllowUnexported(attributes{}, listQuery{})); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUserOf(t *testing.T) {
	users := map[string]string{"a": "alice"}
	for header, want := range map[string]string{
		"": anonymous, "Basic x": anonymous, "Bearer ": anonymous, "Bearer a": "alice", "bearer a": "alice", "Bearer b": TokenUser("b"),
	} {
		h := map[string][]string{"Authorization": {header}}
		if got := userOf(h, users); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
	if strings.Contains(TokenUser("secret"), "secret") || TokenUser("a") == TokenUser("b") {
		t.Error("TokenUser must tell tokens apart without telling them")
	}
}

func TestMatch(t *testing.T) {
	pod := &attributes{
		verb: "watch", version: "v1", resource: "pods", namespace: "ns", name: "p", path: "/api/v1/namespaces/ns/pods",
		user: "alice", userAgent: "operator/1 (linux)", query: listQuery{sendInitialEvents: true},
	}
	for _, tc := range []struct {
		match Match
		want  bool
	}{
		{Match{}, true},
		{Match{Verb: "watch", Group: "core", Resource: "pods", Namespace: "ns", Name: "p"}, true},
		{Match{Verb: "list"}, false},
		{Match{Group: "apps"}, false},
		{Match{Resource: "nodes"}, false},
		{Match{Subresource: "status"}, false},
		{Match{Namespace: "other"}, false},
		{Match{Name: "q"}, false},
		{Match{User: "alice", UserAgent: "operator/1"}, true},
		{Match{User: "bob"}, false},
		{Match{UserAgent: "other"}, false},
		{Match{Path: "/api/"}, true},
		{Match{Path: "/apis/"}, false},
		{Match{InitialEvents: true}, true},
	} {
		if got := tc.match.matches(pod); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.match, got, tc.want)
		}
	}
	if health := (&attributes{verb: "get", path: "/readyz"}); (Match{Group: "core"}).matches(health) {
		t.Error("what is not a resource is not in the core group")
	}
}

func TestRing(t *testing.T) {
	r := newRing[int](3)
	for i := range 5 {
		want := []int{}
		for j := max(0, i-3); j < i; j++ {
			want = append(want, j)
		}
		if got := r.all(); !slices.Equal(got, want) {
			t.Errorf("after %d values: %v, want %v", i, got, want)
		}
		r.add(i)
	}
}

func TestPacer(t *testing.T) {
	now := time.Unix(0, 0)
	p := pacer{rate: 100}
	for i, want := range []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond} {
		if got := p.reserve(10, now); got != want {
			t.Errorf("portion %d waits %v, want %v", i, got, want)
		}
	}
	if got := p.reserve(10, now.Add(time.Minute)); got != 0 {
		t.Errorf("after a pause: %v, want no wait, and nothing saved up", got)
	}
	for rate, want := range map[int64]int{1: 1, 200: 10, 1 << 40: segmentSize} {
		if got := (&pacer{rate: rate}).slice(); got != want {
			t.Errorf("slice at %d B/s: %d, want %d", rate, got, want)
		}
	}
}

func TestJSONFrames(t *testing.T) {
	frames := []string{
		`{"type":"ADDED","object":{"a":"}{\"\\"}}` + "\n",
		`{"type":"MODIFIED","object":[{}]}`,
		"\n\n " + `{"object":{"type":"x"},"type":"BOOKMARK"}` + "\n",
	}
	kinds := []string{"ADDED", "MODIFIED", "BOOKMARK"}
	whole := strings.Join(frames, "")
	for name, r := range map[string]io.Reader{"at once": strings.NewReader(whole), "byte by byte": iotest.OneByteReader(strings.NewReader(whole))} {
		var got, gotKinds []string
		br := bufio.NewReader(r)
		for {
			frame, err := (jsonFrames{}).next(br)
			if errors.Is(err, io.EOF) {
				got = append(got, string(frame))
				break
			}
			got, gotKinds = append(got, string(frame)), append(gotKinds, jsonFrames{}.kind(frame))
		}
		if strings.Join(got, "") != whole || !slices.Equal(gotKinds, kinds) {
			t.Errorf("%s: frames %q, kinds %q", name, got, gotKinds)
		}
	}
	broken := `{"type":"ADDED","obj`
	frame, err := (jsonFrames{}).next(bufio.NewReader(strings.NewReader(broken)))
	if string(frame) != broken || !errors.Is(err, io.EOF) {
		t.Errorf("half a frame: %q, %v; want what there is of it", frame, err)
	}
}

func TestProtobufFramesOfAnyLength(t *testing.T) {
	frame := binary.BigEndian.AppendUint32(nil, 3)
	frame = append(frame, "abc"...)
	for cut := range len(frame) {
		got, err := (protobufFrames{}).next(bufio.NewReader(bytes.NewReader(frame[:cut])))
		if err == nil || !bytes.Equal(got, frame[:cut]) {
			t.Errorf("%d bytes of a frame: %q, %v; want what there is of it and an error", cut, got, err)
		}
	}
	if got, err := (protobufFrames{}).next(bufio.NewReader(bytes.NewReader(frame))); err != nil || !bytes.Equal(got, frame) {
		t.Errorf("a frame: %q, %v", got, err)
	}
	if got := (protobufFrames{}).kind(frame); got != "" {
		t.Errorf("kind of garbage %q", got)
	}
	if _, err := (protobufFrames{}).next(bufio.NewReader(strings.NewReader("HTTP/1.1 400"))); err == nil {
		t.Error("a frame of a gigabyte was believed")
	}
}

// Counting does not depend on how the body is cut up.
func TestItemCounters(t *testing.T) {
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "items"}}
	for i := range 5 {
		list.Items = append(list.Items, corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("n", i), Labels: map[string]string{"items": `[{"{`}},
			Data:       map[string]string{`a"\`: strings.Repeat("x", i*100)},
		})
	}
	empty := &corev1.ConfigMapList{}
	for _, media := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
		encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
		for want, obj := range map[int]runtime.Object{5: list, 0: empty} {
			data, err := runtime.Encode(encoder, obj)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{1, 2, 3, 7, len(data)} {
				c, got := itemsIn(media), 0
				for part := range slices.Chunk(data, size) {
					got += c.count(part)
				}
				if got != want {
					t.Errorf("%s in parts of %d bytes: %d items, want %d", media, size, got, want)
				}
			}
		}
	}
	if itemsIn("text/plain") != nil || itemsIn("") != nil {
		t.Error("a counter for what is not a list")
	}
}

func TestJournalIsBounded(t *testing.T) {
	j := newJournal(logr.Logger{})
	for range recordLimit {
		j.inject("fault", "target", nil).Lift()
	}
	record := j.record()
	if len(record) != recordLimit || record[0].Injection != recordLimit/2+1 || len(j.open) != 0 {
		t.Errorf("%d entries from injection %d on, %d open", len(record), record[0].Injection, len(j.open))
	}
}

func TestDescribe(t *testing.T) {
	for want, f := range map[string]Fault{
		"nothing": nil, "Truncate": &Truncate{}, "Silence": Silence{}, "Silence{OnlyOpen:true}": Silence{OnlyOpen: true}, "Trickle{BytesPerSecond:3}": Trickle{BytesPerSecond: 3},
	} {
		if got := describe(plain(f)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
