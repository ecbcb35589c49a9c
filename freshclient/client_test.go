// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshclient_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/freshclient"
)

// A kind that the operator writes is found stalled within 10 s of the write, by
// whichever method that was.
func TestWritesAreReported(t *testing.T) {
	merge := client.RawPatch(types.MergePatchType, []byte(`{"data":{"color":"blue"}}`))
	tests := []struct {
		name  string
		write func(t *testing.T, c client.Client) error
		found bool
	}{
		{"update", func(t *testing.T, c client.Client) error { return c.Update(t.Context(), configMap("blue")) }, true},
		{"patch", func(t *testing.T, c client.Client) error { return c.Patch(t.Context(), configMap(""), merge) }, true},
		{"apply", func(t *testing.T, c client.Client) error {
			return c.Apply(t.Context(), applycorev1.ConfigMap(key.Name, key.Namespace).WithData(map[string]string{"color": "blue"}), client.FieldOwner("me"), client.ForceOwnership)
		}, true},
		{"apply, unstructured", func(t *testing.T, c client.Client) error {
			u := client.ApplyConfigurationFromUnstructured(unstructuredConfigMap(t, "blue"))
			return c.Apply(t.Context(), u, client.FieldOwner("me"), client.ForceOwnership)
		}, true},
		{"create", func(t *testing.T, c client.Client) error {
			other := configMap("blue") // held by no informer: owes nothing
			other.Name = "b"
			return c.Create(t.Context(), other)
		}, false},
		{"dry run", func(t *testing.T, c client.Client) error {
			return c.Update(t.Context(), configMap("blue"), client.DryRunAll)
		}, false},
		{"dry run of a patch", func(t *testing.T, c client.Client) error {
			return c.Patch(t.Context(), configMap(""), merge, client.DryRunAll)
		}, false},
		{"conflict", func(t *testing.T, c client.Client) error {
			old := configMap("blue")
			old.ResourceVersion = "1"
			if err := c.Update(t.Context(), old); err == nil {
				t.Error("no conflict")
			}
			return nil
		}, false},
		{"deletion", func(t *testing.T, c client.Client) error { return c.Delete(t.Context(), configMap("")) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := start(t)
				o.srv.Stall(configMaps)
				inner, err := client.New(o.srv.Config(), client.Options{})
				if err != nil {
					t.Fatal(err)
				}
				c, err := freshclient.NewClient(neverDry{inner}, o.monitor)
				if err != nil {
					t.Fatal(err)
				}
				if err := tt.write(t, c); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				st := o.monitor.Status()[0]
				if found := st.Doubts > 0; found != tt.found {
					t.Errorf("found %v, want %v; status %+v", found, tt.found, st)
				}
				if got := o.cached(t); tt.found && got != "blue" {
					t.Errorf("the cache has %q after 10 s, want blue", got)
				}
			})
		})
	}
}

// neverDry really does what is asked for as a dry run, so that it would show if
// that was reported.
type neverDry struct{ client.Client }

func (c neverDry) Update(ctx context.Context, obj client.Object, _ ...client.UpdateOption) error {
	return c.Client.Update(ctx, obj)
}

func (c neverDry) Patch(ctx context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return c.Client.Patch(ctx, obj, patch)
}

// Subresources make new versions of the object as well.
func TestStatusWritesAreReported(t *testing.T) {
	writes := map[string]func(t *testing.T, c client.Client, pod *corev1.Pod) error{
		"update": func(t *testing.T, c client.Client, pod *corev1.Pod) error {
			pod.Status.Phase = corev1.PodRunning
			return c.Status().Update(t.Context(), pod)
		},
		"patch": func(t *testing.T, c client.Client, pod *corev1.Pod) error {
			return c.Status().Patch(t.Context(), pod, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`)))
		},
		"subresource": func(t *testing.T, c client.Client, pod *corev1.Pod) error {
			pod.Status.Phase = corev1.PodRunning
			return c.SubResource("status").Update(t.Context(), pod)
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := start(t)
				pod := &corev1.Pod{}
				pod.Namespace, pod.Name = key.Namespace, key.Name
				if err := o.srv.Create(pod); err != nil {
					t.Fatal(err)
				}
				if _, err := o.mgr.GetCache().GetInformer(t.Context(), &corev1.Pod{}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(70 * time.Second)
				var cached corev1.Pod
				if err := o.mgr.GetClient().Get(t.Context(), key, &cached); err != nil {
					t.Fatal(err)
				}
				o.srv.Stall(corev1.SchemeGroupVersion.WithResource("pods"))
				if err := write(t, o.mgr.GetClient(), cached.DeepCopy()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				if err := o.mgr.GetCache().Get(t.Context(), key, &cached); err != nil || cached.Status.Phase != corev1.PodRunning {
					t.Errorf("the cache has phase %q after 10 s, %v; want Running", cached.Status.Phase, err)
				}
			})
		})
	}
}

func TestNewClientRefusesNil(t *testing.T) {
	if _, err := freshclient.NewClient(nil, nil); err == nil {
		t.Error("no error")
	}
}

func unstructuredConfigMap(t *testing.T, color string) *unstructured {
	t.Helper()
	cm := configMap(color)
	cm.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cm)
	if err != nil {
		t.Fatal(err)
	}
	delete(content["metadata"].(map[string]any), "creationTimestamp")
	return &unstructured{Object: content}
}
