// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshinformers"
	"github.com/freshwatch/freshwatch/freshness"
)

var (
	_ dynamicinformer.DynamicSharedInformerFactory = (*freshinformers.Factory)(nil)
	_ metadatainformer.SharedInformerFactory       = (*freshinformers.Factory)(nil)
)

func newMonitor(t *testing.T) *freshness.Monitor {
	t.Helper()
	m, err := freshness.New(freshness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func keys(store cache.Store) string {
	all := store.ListKeys()
	slices.Sort(all)
	return strings.Join(all, " ")
}

// factory is what both of client-go's have in common.
type factory interface {
	Start(stopCh <-chan struct{})
	ForResource(gvr schema.GroupVersionResource) informers.GenericInformer
	WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool
	Shutdown()
}

// kindsOfFactory holds client-go's factories and ours, to be held to the same.
func kindsOfFactory(f *fixture, opts freshinformers.Options) map[string]factory {
	ours := func(made *freshinformers.Factory, err error) factory {
		f.must(err)
		return made
	}
	return map[string]factory{
		"dynamic":            ours(freshinformers.NewDynamic(f.monitor, f.dynamic, opts)),
		"metadata":           ours(freshinformers.NewMetadata(f.monitor, f.metadata, opts)),
		"client-go dynamic":  dynamicinformer.NewFilteredDynamicSharedInformerFactory(f.dynamic, opts.Resync, opts.Namespace, opts.Tweak),
		"client-go metadata": metadatainformer.NewFilteredSharedInformerFactory(f.metadata, opts.Resync, opts.Namespace, opts.Tweak),
	}
}

// eachFactory runs a test with each of them, in a bubble.
func eachFactory(t *testing.T, opts freshinformers.Options, test func(*fixture, factory)) {
	t.Helper()
	for _, name := range []string{"dynamic", "metadata", "client-go dynamic", "client-go metadata"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				test(f, kindsOfFactory(f, opts)[name])
			})
		})
	}
}

func TestFactoriesBehaveLikeClientGos(t *testing.T) {
	opts := freshinformers.Options{Namespace: "default", Tweak: func(o *metav1.ListOptions) { o.LabelSelector = "color=red" }}
	eachFactory(t, opts, func(f *fixture, made factory) {
		f.must(f.srv.Create(configMap("default", "a", "red")))
		f.must(f.srv.Create(configMap("default", "b", "blue")))
		f.must(f.srv.Create(configMap("other", "c", "red")))
		inf := made.ForResource(configMaps)
		if made.ForResource(configMaps).Informer() != inf.Informer() {
			f.Error("a second informer of the same kind")
		}
		if synced := made.WaitForCacheSync(f.ctx.Done()); len(synced) != 0 {
			f.Errorf("synced before the start: %v", synced)
		}
		made.Start(f.ctx.Done())
		if synced := made.WaitForCacheSync(f.ctx.Done()); !synced[configMaps] || len(synced) != 1 {
			f.Errorf("synced: %v", synced)
		}
		if got, want := keys(inf.Informer().GetStore()), "default/a"; got != want {
			f.Errorf("store holds %q, want %q", got, want)
		}
		if _, err := inf.Lister().ByNamespace("default").Get("a"); err != nil {
			f.Error(err)
		}
		if all, err := inf.Lister().ByNamespace("default").List(labels.Everything()); err != nil || len(all) != 1 {
			f.Errorf("lister: %v, %v", all, err)
		}
		if _, found := inf.Informer().GetIndexer().GetIndexers()[cache.NamespaceIndex]; !found {
			f.Error("no index of namespaces")
		}

		late := made.ForResource(secrets).Informer()
		if late.HasSynced() {
			f.Error("an informer ran that was not started")
		}
		made.Start(f.ctx.Done()) // the late one alone
		if synced := made.WaitForCacheSync(f.ctx.Done()); !synced[secrets] {
			f.Errorf("synced: %v", synced)
		}

		f.stop()
		made.Shutdown()
		if !inf.Informer().IsStopped() || !late.IsStopped() {
			f.Error("Shutdown did not wait for the informers")
		}
		after := made.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Informer()
		made.Start(f.Context().Done())
		synctest.Wait()
		if after.HasSynced() {
			f.Error("an informer ran after Shutdown")
		}
	})
}

func TestFactoryWaitsInVain(t *testing.T) {
	eachFactory(t, freshinformers.Options{}, func(f *fixture, made factory) {
		defer f.srv.Respond(configMaps, "", 500, 0).Lift()
		made.ForResource(configMaps)
		made.Start(f.ctx.Done())
		soon, cancel := context.WithTimeout(f.ctx, time.Minute)
		defer cancel()
		if synced := made.WaitForCacheSync(soon.Done()); synced[configMaps] || len(synced) != 1 {
			f.Errorf("synced: %v, want false for one kind", synced)
		}
	})
}

func TestFactoryTransformsAndResyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.must(f.srv.Create(configMap("default", "a", "red")))
		made, err := freshinformers.NewDynamic(f.monitor, f.dynamic, freshinformers.Options{
			Resync: 30 * time.Second,
			Transform: func(obj any) (any, error) {
				if u, ok := obj.(*unstructured.Unstructured); ok {
					delete(u.Object, "data")
				}
				return obj, nil
			},
		})
		f.must(err)
		inf := made.ForResource(configMaps)
		resyncs := 0
		_, err = inf.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { resyncs++ }})
		f.must(err)
		made.StartWithContext(f.ctx)
		made.WaitForCacheSync(f.ctx.Done())
		obj, err := inf.Lister().ByNamespace("default").Get("a")
		f.must(err)
		if u, ok := obj.(*unstructured.Unstructured); !ok || u.Object["data"] != nil {
			t.Errorf("stored %v, want it without data", obj)
		}
		time.Sleep(95 * time.Second)
		synctest.Wait()
		if resyncs != 3 {
			t.Errorf("%d resyncs in 95s, want 3", resyncs)
		}
	})
}

// The kind is known by name before the first request, and over HTTP/1.1.
func TestFactoryNamesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
		for _, name := range []string{"dynamic", "metadata"} {
			kindsOfFactory(f, freshinformers.Options{Namespace: "default"})[name].ForResource(deployments)
		}
		const want = "deployments.apps/v1 in default: Syncing"
		if got := f.statuses(); got != want+", "+want {
			t.Errorf("monitored: %s", got)
		}
	})
}

func TestFactoriesRefuse(t *testing.T) {
	scheme := runtime.NewScheme()
	client := fake.NewSimpleMetadataClient(scheme)
	for _, tt := range []struct {
		name string
		make func() (*freshinformers.Factory, error)
		want string
	}{
		{"no monitor", func() (*freshinformers.Factory, error) {
			return freshinformers.NewMetadata(nil, client, freshinformers.Options{})
		}, "monitor"},
		{"no client for metadata", func() (*freshinformers.Factory, error) {
			return freshinformers.NewMetadata(newMonitor(t), nil, freshinformers.Options{})
		}, "client"},
		{"no dynamic client", func() (*freshinformers.Factory, error) {
			return freshinformers.NewDynamic(newMonitor(t), nil, freshinformers.Options{})
		}, "client"},
		{"resync", func() (*freshinformers.Factory, error) {
			return freshinformers.NewMetadata(newMonitor(t), client, freshinformers.Options{Resync: -1})
		}, "Options.Resync is -1ns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if made, err := tt.make(); err == nil || made != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("made %v, error %v; want one about %q", made, err, tt.want)
			}
		})
	}
}

func TestFactoriesWithFakeClients(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	partial := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"},
	}
	for name, newFactory := range map[string]func(*freshness.Monitor) (*freshinformers.Factory, error){
		"dynamic": func(m *freshness.Monitor) (*freshinformers.Factory, error) {
			return freshinformers.NewDynamic(m, dynamicfake.NewSimpleDynamicClient(scheme, configMap("default", "a", "red")), freshinformers.Options{})
		},
		"metadata": func(m *freshness.Monitor) (*freshinformers.Factory, error) {
			return freshinformers.NewMetadata(m, fake.NewSimpleMetadataClient(scheme, partial), freshinformers.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made, err := newFactory(newMonitor(t))
				if err != nil {
					t.Fatal(err)
				}
				store := made.ForResource(configMaps).Informer().GetStore()
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				made.StartWithContext(ctx)
				made.WaitForCacheSync(ctx.Done())
				if got, want := keys(store), "default/a"; got != want {
					t.Errorf("store holds %q, want %q", got, want)
				}
				stop()
				made.Shutdown()
			})
		})
	}
}
