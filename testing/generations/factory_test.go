// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

const parts = "parts"

func partKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "generations.freshwatch.example", Version: "v1", Kind: "Part"}
}

// factory makes objects of a kind of its own, edits them, and has a controller for them
// that is healthy.
type factory struct {
	client  client.Client
	names   []string
	reports atomic.Int64 // that the controller has written
}

// newFactory has the API server serve the kind, and the controller run until the test
// ends.
func newFactory(t *testing.T, cfg *rest.Config) *factory {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	live, err := client.New(cfg, client.Options{Scheme: scheme, HTTPClient: mgr.GetHTTPClient()})
	if err != nil {
		t.Fatal(err)
	}
	f := &factory{client: live}
	if err := live.Create(t.Context(), partDefinition()); err != nil {
		t.Fatal(err)
	}
	served := func() bool { return live.List(t.Context(), f.list(), client.Limit(1)) == nil }
	if !poll.Until(t.Context(), patience, served) {
		t.Fatalf("%v is not served within %v", partKind(), patience)
	}
	err = ctrl.NewControllerManagedBy(mgr).For(f.part("")).WithOptions(controller.Options{MaxConcurrentReconciles: 8}).
		Complete(ctrlreconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			p := f.part("")
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, p); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			return ctrl.Result{}, f.report(ctx, p)
		}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		mgr.GetHTTPClient().CloseIdleConnections()
	})
	return f
}

func (f *factory) part(name string) *unstructured.Unstructured {
	p := &unstructured.Unstructured{}
	p.SetGroupVersionKind(partKind())
	p.SetNamespace(namespace)
	p.SetName(name)
	return p
}

func (f *factory) list() *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(partKind().GroupVersion().WithKind("PartList"))
	return l
}

// report writes the generation as observed, if it is not.
func (f *factory) report(ctx context.Context, p *unstructured.Unstructured) error {
	if n, _, _ := unstructured.NestedInt64(p.Object, "status", "observedGeneration"); n == p.GetGeneration() {
		return nil
	}
	patch := fmt.Appendf(nil, `{"status":{"observedGeneration":%d}}`, p.GetGeneration())
	f.reports.Add(1)
	return f.client.Status().Patch(ctx, p, client.RawPatch("application/merge-patch+json", patch))
}

// create creates so many objects, of about a kilobyte.
func (f *factory) create(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		f.names = append(f.names, fmt.Sprintf("part-%05d", i))
	}
	each(f.names, func(name string) {
		p := f.part(name)
		text := fmt.Sprintf("%0800d", len(name))
		p.Object["spec"] = map[string]any{"n": int64(0), "text": text}
		if err := f.client.Create(t.Context(), p); err != nil {
			t.Error(err)
		}
	})
}

// edit moves the generation of an object.
func (f *factory) edit(ctx context.Context, name string, n int) error {
	return f.client.Patch(ctx, f.part(name), client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"n":%d}}`, n)))
}

// churn edits objects for so long, so many a second, and returns how many it was.
func (f *factory) churn(t *testing.T, d time.Duration, perSecond int) int {
	t.Helper()
	ticker := time.NewTicker(time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	end := time.NewTimer(d)
	defer end.Stop()
	edits := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range edits {
				// Half of them on a few, which are edited all the time.
				name := f.names[rand.IntN(len(f.names))]
				if n%2 == 0 {
					name = f.names[rand.IntN(10)]
				}
				if err := f.edit(t.Context(), name, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	defer wg.Wait()
	defer close(edits)
	for n := 1; ; n++ {
		select {
		case <-end.C:
			return n - 1
		case <-ticker.C:
			edits <- n
		}
	}
}

// each calls do for all names, sixteen at a time.
func each(names []string, do func(name string)) {
	queue := make(chan string)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for name := range queue {
				do(name)
			}
		})
	}
	for _, name := range names {
		queue <- name
	}
	close(queue)
	wg.Wait()
}

func partDefinition() *apiextensionsv1.CustomResourceDefinition {
	object := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	gvk := partKind()
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: parts + "." + gvk.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gvk.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: gvk.Kind, Plural: parts},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: gvk.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": object, "status": object},
				}},
			}},
		},
	}
}
