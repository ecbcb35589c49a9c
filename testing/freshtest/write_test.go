// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func widgetClient(t *testing.T, srv *freshtest.Server) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(srv.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(widgets).Namespace("default")
}

func TestCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := widgetClient(t, srv)
		w := widget("", 1)
		w.SetGenerateName("w-")
		w.Object["status"] = map[string]any{"size": int64(9)}
		w, err := client.Create(t.Context(), w, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(w.GetName()) != len("w-12345") || w.GetUID() == "" || w.GetGeneration() != 1 || rv(t, w) != 101 {
			t.Errorf("created %v", w)
		}
		if got := w.GetCreationTimestamp(); !got.Time.Equal(time.Now()) {
			t.Errorf("created at %v, want now, %v", got, time.Now())
		}
		if _, ok := w.Object["status"]; ok {
			t.Error("the status was created, but is a subresource")
		}
		_, err = client.Create(t.Context(), widget(w.GetName(), 1), metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			t.Errorf("created again: %v, want 409", err)
		}
		w.SetName("other")
		if _, err := client.Create(t.Context(), w, metav1.CreateOptions{}); codeOf(err) != http.StatusInternalServerError {
			t.Errorf("created with an RV: %v, want 500", err)
		}
		w = widget("elsewhere", 1)
		w.SetNamespace("elsewhere")
		if _, err := client.Create(t.Context(), w, metav1.CreateOptions{}); !apierrors.IsBadRequest(err) {
			t.Errorf("created with the namespace of another path: %v, want 400", err)
		}
		if got := srv.ResourceVersion(); got != 101 {
			t.Errorf("the global RV is %d, want 101: one write", got)
		}
	})
}

func TestUpdate(t *testing.T) {
	srv := start(t, freshtest.Options{})
	client := widgetClient(t, srv)
	mustCreate(t, srv, widget("a", 1))
	current := func() *unstructured.Unstructured {
		t.Helper()
		w, err := client.Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first := current()
	for _, tt := range []struct {
		name       string
		change     func(*unstructured.Unstructured)
		status     bool
		code       int
		writes     uint64
		generation int64
	}{
		{name: "nothing", change: func(*unstructured.Unstructured) {}, generation: 1},
		{name: "spec", change: func(w *unstructured.Unstructured) { setSize(w, "spec", 2) }, writes: 1, generation: 2},
		{
			name: "labels", writes: 1, generation: 2,
			change: func(w *unstructured.Unstructured) { w.SetLabels(map[string]string{"a": "b"}) },
		},
		{name: "status by the object", change: func(w *unstructured.Unstructured) { setSize(w, "status", 2) }, generation: 2},
		{
			name: "status", status: true, writes: 1, generation: 2,
			change: func(w *unstructured.Unstructured) { setSize(w, "status", 2) },
		},
		{
			name: "spec by the status", status: true, generation: 2,
			change: func(w *unstructured.Unstructured) { setSize(w, "spec", 3) },
		},
		{
			name: "what the server sets", generation: 2,
			change: func(w *unstructured.Unstructured) {
				w.SetGeneration(7)
				w.SetCreationTimestamp(metav1.Time{})
				w.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
			},
		},
		{
			name: "without an RV", code: http.StatusUnprocessableEntity, generation: 2,
			change: func(w *unstructured.Unstructured) {
				w.SetResourceVersion("")
				setSize(w, "spec", 4)
			},
		},
		{
			name: "an old RV", code: http.StatusConflict, generation: 2,
			change: func(w *unstructured.Unstructured) { w.SetResourceVersion(first.GetResourceVersion()) },
		},
		{
			name: "another UID", code: http.StatusConflict, generation: 2,
			change: func(w *unstructured.Unstructured) { w.SetUID("other") },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := srv.ResourceVersion()
			w := current()
			tt.change(w)
			var part []string
			if tt.status {
				part = []string{"status"}
			}
			updated, err := client.Update(t.Context(), w, metav1.UpdateOptions{}, part...)
			if code := max(tt.code, http.StatusOK); codeOf(err) != code {
				t.Fatalf("%v, want %d", err, code)
			}
			if err == nil && updated.GetResourceVersion() != current().GetResourceVersion() {
				t.Errorf("answered with RV %s, stored is %s", updated.GetResourceVersion(), current().GetResourceVersion())
			}
			if got := srv.ResourceVersion() - before; got != tt.writes {
				t.Errorf("%d writes, want %d", got, tt.writes)
			}
			if got := current().GetGeneration(); got != tt.generation {
				t.Errorf("generation %d, want %d", got, tt.generation)
			}
		})
	}
	if _, err := client.Update(t.Context(), widget("absent", 1), metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("update of an absent object: %v, want 404", err)
	}
	mustCreate(t, srv, configMap("cm"))
	cm := configMap("cm")
	cm.Data = map[string]string{"x": "y"}
	cm, err := typedClient(t, srv).CoreV1().ConfigMaps("default").Update(t.Context(), cm, metav1.UpdateOptions{})
	if err != nil || cm.Generation != 0 {
		t.Errorf("update of a built-in kind without an RV: %v, generation %d; want none of either", err, cm.Generation)
	}
}

func setSize(w *unstructured.Unstructured, part string, size int64) {
	w.Object[part] = map[string]any{"size": size}
}

func TestPatch(t *testing.T) {
	srv := start(t, freshtest.Options{})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Labels: map[string]string{"a": "1", "b": "1"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "one", Image: "x"}, {Name: "two", Image: "x"}}},
	}
	mustCreate(t, srv, pod)
	pods := typedClient(t, srv).CoreV1().Pods("default")
	for _, tt := range []struct {
		name  string
		patch types.PatchType
		body  string
		sub   []string
		code  int
		want  string // labels, images, phase
	}{
		{
			name: "merge", patch: types.MergePatchType,
			body: `{"metadata":{"labels":{"a":"2","b":null}}}`, want: "map[a:2] [x x] ",
		},
		{
			name: "strategic merge", patch: types.StrategicMergePatchType,
			body: `{"spec":{"containers":[{"name":"two","image":"y"}]}}`, want: "map[a:2] [x y] ",
		},
		{
			name: "status", patch: types.MergePatchType, sub: []string{"status"},
			body: `{"metadata":{"labels":{"a":"3"}},"status":{"phase":"Running"}}`, want: "map[a:2] [x y] Running",
		},
		{
			name: "old RV", patch: types.MergePatchType, code: http.StatusConflict,
			body: `{"metadata":{"resourceVersion":"1","labels":{"a":"3"}}}`, want: "map[a:2] [x y] Running",
		},
		{
			name: "JSON patch", patch: types.JSONPatchType, code: http.StatusUnsupportedMediaType,
			body: `[]`, want: "map[a:2] [x y] Running",
		},
		{
			name: "no JSON", patch: types.MergePatchType, code: http.StatusBadRequest,
			body: `{`, want: "map[a:2] [x y] Running",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pods.Patch(t.Context(), "p", tt.patch, []byte(tt.body), metav1.PatchOptions{}, tt.sub...)
			if code := max(tt.code, http.StatusOK); codeOf(err) != code {
				t.Errorf("%v, want %d", err, code)
			}
			p, err := pods.Get(t.Context(), "p", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var images []string
			for _, c := range p.Spec.Containers {
				images = append(images, c.Image)
			}
			got := fmt.Sprintf("%v %v %s", p.Labels, images, p.Status.Phase)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	_, err := pods.Patch(t.Context(), "absent", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("patch of an absent object: %v, want 404", err)
	}
}

func TestApply(t *testing.T) {
	srv := start(t, freshtest.Options{})
	client := typedClient(t, srv).CoreV1().ConfigMaps("default")
	for i, data := range []map[string]string{{"a": "1"}, {"b": "2"}, {"b": "2"}} {
		cm := corev1apply.ConfigMap("cm", "default").WithData(data)
		_, err := client.Apply(t.Context(), cm, metav1.ApplyOptions{FieldManager: "test"})
		if err != nil {
			t.Fatalf("apply %d: %v", i, err)
		}
	}
	cm, err := client.Get(t.Context(), "cm", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2"}, cm.Data); diff != "" || rv(t, cm) != 102 {
		t.Errorf("at RV %d, want 102; (-want +got):\n%s", rv(t, cm), diff)
	}
	if got := srv.Log()[0].Code; got != http.StatusCreated {
		t.Errorf("the first apply was answered with %d, want 201", got)
	}
}

func TestDelete(t *testing.T) {
	srv := start(t, freshtest.Options{})
	client := typedClient(t, srv).CoreV1().ConfigMaps("default")
	held := configMap("held")
	held.Finalizers = []string{"example.com/hold"}
	mustCreate(t, srv, configMap("a"), held)

	wrong := types.UID("wrong")
	err := client.Delete(t.Context(), "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
	if !apierrors.IsConflict(err) {
		t.Errorf("delete with another UID: %v, want 409", err)
	}
	for name, want := range map[string]int{"a": 404, "held": 200} {
		if err := client.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Get(t.Context(), name, metav1.GetOptions{}); codeOf(err) != want {
			t.Errorf("%s after its deletion: %v, want %d", name, err, want)
		}
	}
	before := srv.ResourceVersion()
	if err := client.Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil || srv.ResourceVersion() != before {
		t.Errorf("the second deletion: %v and %d writes, want none", err, srv.ResourceVersion()-before)
	}
	dying, err := client.Get(t.Context(), "held", metav1.GetOptions{})
	if err != nil || dying.DeletionTimestamp == nil {
		t.Fatalf("%v, %v; want a deletionTimestamp", dying, err)
	}
	dying.Finalizers = nil
	if _, err := client.Update(t.Context(), dying, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), "held", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("without finalizers: %v, want 404", err)
	}
}

func TestDeleteCollection(t *testing.T) {
	srv := start(t, freshtest.Options{})
	client := typedClient(t, srv).CoreV1().ConfigMaps("default")
	for name, app := range map[string]string{"a": "x", "b": "x", "c": "y"} {
		cm := configMap(name)
		cm.Labels = map[string]string{"app": app}
		mustCreate(t, srv, cm)
	}
	err := client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=x"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "c" {
		t.Errorf("%v, %v; want c alone", list.Items, err)
	}
}

// TestProtobufBodies has a client that writes protobuf and would rather read it, as controller-runtime's does.
func TestProtobufBodies(t *testing.T) {
	srv := start(t, freshtest.Options{})
	cfg := srv.Config()
	cfg.ContentType = runtime.ContentTypeProtobuf
	cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	typed, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	client := typed.CoreV1().ConfigMaps("default")
	cm := configMap("a")
	cm.Data = map[string]string{"x": "y"}
	created, err := client.Create(t.Context(), cm, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cm.Data, created.Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	created.Data["x"] = "z"
	if _, err := client.Update(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
	wrong := types.UID("wrong")
	err = client.Delete(t.Context(), "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
	if !apierrors.IsConflict(err) {
		t.Errorf("DeleteOptions in protobuf were not read: %v", err)
	}
}

// TestDirectWrites are those of the test's own hand.
func TestDirectWrites(t *testing.T) {
	srv := start(t, freshtest.Options{})
	cm := configMap("a")
	mustCreate(t, srv, cm)
	if cm.UID == "" || rv(t, cm) != 101 {
		t.Errorf("Create has not set the metadata: %+v", cm.ObjectMeta)
	}
	stale := cm.DeepCopy()
	cm.Data = map[string]string{"x": "y"}
	if err := srv.Update(cm); err != nil || rv(t, cm) != 102 {
		t.Errorf("Update: %v, at RV %d; want 102", err, rv(t, cm))
	}
	if err := srv.Update(cm); err != nil || rv(t, cm) != 102 {
		t.Errorf("Update without a change: %v, at RV %d; want 102", err, rv(t, cm))
	}
	if err := srv.Update(stale); !apierrors.IsConflict(err) {
		t.Errorf("Update of an old RV: %v, want 409", err)
	}
	if err := srv.Delete(configMap("a")); err != nil {
		t.Error(err)
	}
	if err := srv.Delete(configMap("a")); !apierrors.IsNotFound(err) {
		t.Errorf("Delete again: %v, want 404", err)
	}
	w := widget("w", 1)
	setSize(w, "status", 1)
	mustCreate(t, srv, w)
	got, err := widgetClient(t, srv).Get(t.Context(), "w", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"size": int64(1)}, got.Object["status"]); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
	for name, obj := range map[string]runtime.Object{
		"kind that is not served":  &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		"type that is not known":   &metav1.PartialObjectMetadata{},
		"namespace that is missed": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		"namespace too many":       &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "a"}},
	} {
		if err := srv.Create(obj); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
