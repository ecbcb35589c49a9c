// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshinformers"
)

// Whatever a generated factory is asked for, it hands out the registered informer.
func TestFactoryHandsOutWhatIsRegistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.must(f.srv.Create(configMap("default", "a", "red")))
		f.must(f.srv.Create(configMap("other", "b", "red")))
		factory := informers.NewSharedInformerFactory(f.typed, 0)
		registered, err := freshinformers.Register(f.monitor, factory, &corev1.ConfigMap{},
			freshinformers.ListWatch(f.typed.CoreV1().ConfigMaps(""), nil))
		f.must(err)
		var handled atomic.Int64
		_, err = f.monitor.AddEventHandler(registered, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { handled.Add(1) }})
		f.must(err)
		typed := factory.Core().V1().ConfigMaps()
		generic, err := factory.ForResource(configMaps)
		f.must(err)
		factory.StartWithContext(f.ctx)
		if synced := factory.WaitForCacheSyncWithContext(f.ctx); synced.Err != nil || len(synced.Synced) != 1 {
			t.Fatalf("synced: %v", synced)
		}
		f.waitForStatuses(time.Minute, "configmaps/v1: Fresh")

		for _, inf := range []cache.SharedIndexInformer{typed.Informer(), generic.Informer()} {
			if inf.GetIndexer() != registered.GetIndexer() {
				t.Error("the factory has an informer of its own")
			}
		}
		if got := handled.Load(); got != 2 {
			t.Errorf("the handler was told of %d objects, want 2", got)
		}
		if _, found := typed.Informer().GetIndexer().GetIndexers()[cache.NamespaceIndex]; !found {
			t.Error("no index of namespaces: listers walk over everything")
		}
		f.must(typed.Informer().AddIndexers(cache.Indexers{"color": func(any) ([]string, error) { return nil, nil }}))
		if cm, err := typed.Lister().ConfigMaps("default").Get("a"); err != nil || cm.Data["color"] != "red" {
			t.Errorf("typed lister: %v, %v", cm, err)
		}
		if all, err := typed.Lister().ConfigMaps("other").List(labels.Everything()); err != nil || len(all) != 1 {
			t.Errorf("typed lister, one namespace: %v, %v", all, err)
		}
		if all, err := generic.Lister().List(labels.Everything()); err != nil || len(all) != 2 {
			t.Errorf("generic lister: %v, %v", all, err)
		}
	})
}

// What a factory was made with applies, or has to be said again: the second half of
// each case shows which.
func TestFactoryOptions(t *testing.T) {
	red := func(o *metav1.ListOptions) { o.LabelSelector = "color=red" }
	const everything = "default/a default/b other/c"
	for _, tt := range []struct {
		name      string
		option    informers.SharedInformerOption
		namespace string
		tweak     func(*metav1.ListOptions)
		want      string
	}{
		{name: "none", want: everything},
		{name: "namespace, for the factory alone", option: informers.WithNamespace("default"), want: everything},
		{name: "namespace, for both", option: informers.WithNamespace("default"), namespace: "default", want: "default/a default/b"},
		{name: "list options, for the factory alone", option: informers.WithTweakListOptions(red), want: everything},
		{name: "list options, for both", option: informers.WithTweakListOptions(red), tweak: red, want: "default/a other/c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.must(f.srv.Create(configMap("default", "a", "red")))
				f.must(f.srv.Create(configMap("default", "b", "blue")))
				f.must(f.srv.Create(configMap("other", "c", "red")))
				var options []informers.SharedInformerOption
				if tt.option != nil {
					options = append(options, tt.option)
				}
				factory := informers.NewSharedInformerFactoryWithOptions(f.typed, 0, options...)
				_, err := freshinformers.Register(f.monitor, factory, &corev1.ConfigMap{},
					freshinformers.ListWatch(f.typed.CoreV1().ConfigMaps(tt.namespace), tt.tweak))
				f.must(err)
				factory.StartWithContext(f.ctx)
				factory.WaitForCacheSyncWithContext(f.ctx)
				name := "configmaps/v1"
				if tt.namespace != "" {
					name += " in " + tt.namespace
				}
				f.waitForStatuses(time.Minute, name+": Fresh")
				store := factory.Core().V1().ConfigMaps().Informer().GetStore()
				if diff := cmp.Diff(tt.want, keys(store)); diff != "" {
					t.Errorf("store (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Resync periods and the transform are the factory's.
func TestFactoryResyncsAndTransforms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.must(f.srv.Create(configMap("default", "a", "red")))
		strip := func(obj any) (any, error) {
			cm, ok := obj.(*corev1.ConfigMap)
			if !ok {
				return nil, fmt.Errorf("transforming a %T", obj)
			}
			cm.Data = nil
			return cm, nil
		}
		factory := informers.NewSharedInformerFactoryWithOptions(f.typed, 0, informers.WithTransform(strip),
			informers.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.ConfigMap{}: 30 * time.Second}))
		_, err := freshinformers.Register(f.monitor, factory, &corev1.ConfigMap{},
			freshinformers.ListWatch(f.typed.CoreV1().ConfigMaps("default"), nil))
		f.must(err)
		var updates atomic.Int64
		_, err = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(
			cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { updates.Add(1) }})
		f.must(err)
		factory.StartWithContext(f.ctx)
		factory.WaitForCacheSyncWithContext(f.ctx)
		time.Sleep(95 * time.Second)
		if got := updates.Load(); got != 3 {
			t.Errorf("%d resyncs in 95s, want 3", got)
		}
		if cm, err := factory.Core().V1().ConfigMaps().Lister().ConfigMaps("default").Get("a"); err != nil || cm.Data != nil {
			t.Errorf("stored %v, %v; want it without data", cm, err)
		}
		f.waitForStatuses(time.Minute, "configmaps/v1 in default: Fresh")
	})
}

func TestRegisterTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		factory := informers.NewSharedInformerFactory(f.typed, 0)
		factory.Core().V1().ConfigMaps().Informer()
		lw := freshinformers.ListWatch(f.typed.CoreV1().ConfigMaps(""), nil)
		if _, err := freshinformers.Register(f.monitor, factory, &corev1.ConfigMap{}, lw); !errors.Is(err, freshinformers.ErrTooLate) {
			t.Errorf("error %v, want ErrTooLate", err)
		}
		if got := f.statuses(); got != "" {
			t.Errorf("monitored: %s; want nothing", got)
		}
		lw = freshinformers.ListWatch(f.typed.CoreV1().Secrets(""), nil)
		for _, want := range []error{nil, freshinformers.ErrTooLate} {
			if _, err := freshinformers.Register(f.monitor, factory, &corev1.Secret{}, lw); !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
		}
	})
}

func TestRegisterRefusesNil(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	if _, err := freshinformers.Register(nil, factory, &corev1.ConfigMap{}, &cache.ListWatch{}); err == nil {
		t.Error("a nil monitor was taken")
	}
	if _, err := freshinformers.Register(newMonitor(t), factory, &corev1.ConfigMap{}, nil); err == nil {
		t.Error("a nil ListerWatcher was taken")
	}
}

// Unit tests with fakes go on working.
func TestRegisterWithFakeClientset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		factory := informers.NewSharedInformerFactory(client, 0)
		lw := freshinformers.ListWatch(client.AppsV1().Deployments(""), nil)
		if _, err := freshinformers.Register(newMonitor(t), factory, &appsv1.Deployment{},
			cache.ToListWatcherWithWatchListSemantics(lw, client)); err != nil {
			t.Fatal(err)
		}
		factory.StartWithContext(t.Context())
		if synced := factory.WaitForCacheSyncWithContext(t.Context()); synced.Err != nil {
			t.Fatal(synced.Err)
		}
		if _, err := factory.Apps().V1().Deployments().Lister().Deployments("default").Get("a"); err != nil {
			t.Error(err)
		}
	})
}
