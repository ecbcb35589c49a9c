// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/freshness"
)

// lookup returns the color of an object in the cache of a view, or "".
type lookup func(namespace string, at types.NamespacedName) string

// operators are programs with informers for views, made in different ways. Each
// returns a lookup per view.
var operators = map[string]func(t *testing.T, cfg *rest.Config, m *freshness.Monitor, views []view) []lookup{
	"client-go":          startClientGo,
	"controller-runtime": startControllerRuntime,
}

// clients are those that an operator without a framework uses.
type clients struct {
	typed    kubernetes.Interface
	untyped  dynamic.Interface
	metadata metadata.Interface
}

func startClientGo(t *testing.T, cfg *rest.Config, m *freshness.Monitor, views []view) []lookup {
	t.Helper()
	c := newClients(t, cfg)
	lookups := make([]lookup, 0, len(views))
	for _, v := range views {
		stores := map[string]cache.Store{}
		for _, ns := range v.namespaces {
			inf := c.informer(t, m, v, ns)
			untilEnd(t, inf.RunWithContext)
			stores[ns] = inf.GetStore()
		}
		lookups = append(lookups, func(namespace string, at types.NamespacedName) string {
			obj, ok, err := stores[namespace].GetByKey(cache.NewObjectName(at.Namespace, at.Name).String())
			if !ok || err != nil {
				return ""
			}
			return obj.(metav1.Object).GetAnnotations()[colorKey]
		})
	}
	return lookups
}

func newClients(t *testing.T, cfg *rest.Config) clients {
	t.Helper()
	protobuf := rest.CopyConfig(cfg)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	httpClient := httpClientFor(t, cfg)
	var c clients
	var err error
	if c.typed, err = kubernetes.NewForConfigAndClient(protobuf, httpClient); err != nil {
		t.Fatal(err)
	}
	if c.untyped, err = dynamic.NewForConfigAndClient(cfg, httpClient); err != nil {
		t.Fatal(err)
	}
	if c.metadata, err = metadata.NewForConfigAndClient(cfg, httpClient); err != nil {
		t.Fatal(err)
	}
	return c
}

// informer makes a monitored informer, by NewInformer, or with the two calls that
// programs use which make their informers elsewhere.
func (c clients) informer(t *testing.T, m *freshness.Monitor, v view, ns string) cache.SharedIndexInformer {
	t.Helper()
	switch v.as {
	case untyped:
		return m.NewInformer(c.untypedLW(v, ns), &unstructured.Unstructured{}, 0, cache.Indexers{})
	case metadataOnly:
		return m.NewInformer(c.metadataLW(v, ns), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	default:
		lw := m.WrapListerWatcher(cache.NewFilteredListWatchFromClient(c.typed.CoreV1().RESTClient(), v.kind.resource(), ns, v.selects))
		inf := cache.NewSharedIndexInformerWithOptions(lw, typedObject(t, v), cache.SharedIndexInformerOptions{})
		if err := m.Track(inf, lw, freshness.Informer{Resource: "of-tests"}); err != nil {
			t.Fatal(err)
		}
		return inf
	}
}

// selects applies the view's selectors where it has any, as client-go's own
// informer factories do.
func (v view) selects(o *metav1.ListOptions) {
	if v.label != "" {
		o.LabelSelector = v.label
	}
	if v.field != "" {
		o.FieldSelector = v.field
	}
}

func (c clients) untypedLW(v view, ns string) cache.ListerWatcher {
	r := c.untyped.Resource(v.kind.gvr()).Namespace(ns)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			v.selects(&o)
			return r.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			v.selects(&o)
			return r.Watch(ctx, o)
		},
	}
}

func (c clients) metadataLW(v view, ns string) cache.ListerWatcher {
	r := c.metadata.Resource(v.kind.gvr()).Namespace(ns)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			v.selects(&o)
			return r.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			v.selects(&o)
			return r.Watch(ctx, o)
		},
	}
}

func typedObject(t *testing.T, v view) runtime.Object {
	t.Helper()
	obj, err := scheme.Scheme.New(v.kind.gvk())
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

// startControllerRuntime makes one cache with a selection per kind, as operators
// do that must not hold the whole cluster.
func startControllerRuntime(t *testing.T, cfg *rest.Config, m *freshness.Monitor, views []view) []lookup {
	t.Helper()
	opts := ctrlcache.Options{
		HTTPClient:  httpClientFor(t, cfg),
		Scheme:      scheme.Scheme,
		ByObject:    map[client.Object]ctrlcache.ByObject{},
		NewInformer: m.NewInformer,
	}
	objects := make([]client.Object, 0, len(views))
	for _, v := range views {
		obj := v.object(t)
		objects = append(objects, obj)
		opts.ByObject[obj] = v.byObject(t)
	}
	c, err := ctrlcache.New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	lookups := make([]lookup, 0, len(views))
	for _, obj := range objects {
		if _, err := c.GetInformer(t.Context(), obj, ctrlcache.BlockUntilSynced(false)); err != nil {
			t.Fatal(err)
		}
		lookups = append(lookups, func(_ string, at types.NamespacedName) string {
			got := obj.DeepCopyObject().(client.Object)
			if err := c.Get(t.Context(), at, got); err != nil {
				return ""
			}
			return got.GetAnnotations()[colorKey]
		})
	}
	untilEnd(t, func(ctx context.Context) {
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	if !c.WaitForCacheSync(t.Context()) {
		t.Fatal("the cache did not sync")
	}
	return lookups
}

// object returns an empty object of the view's representation.
func (v view) object(t *testing.T) client.Object {
	t.Helper()
	switch v.as {
	case untyped:
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(v.kind.gvk())
		return u
	case metadataOnly:
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(v.kind.gvk())
		return m
	default:
		return typedObject(t, v).(client.Object)
	}
}

func (v view) byObject(t *testing.T) ctrlcache.ByObject {
	t.Helper()
	var by ctrlcache.ByObject
	var err error
	if v.label != "" {
		if by.Label, err = labels.Parse(v.label); err != nil {
			t.Fatal(err)
		}
	}
	if v.field != "" {
		if by.Field, err = fields.ParseSelector(v.field); err != nil {
			t.Fatal(err)
		}
	}
	for _, ns := range v.namespaces {
		if ns != "" {
			if by.Namespaces == nil {
				by.Namespaces = map[string]ctrlcache.Config{}
			}
			by.Namespaces[ns] = ctrlcache.Config{}
		}
	}
	return by
}
