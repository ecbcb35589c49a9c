// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshinformers"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// A generated factory: register each kind before anything asks for it.
func registered(monitor *freshness.Monitor, client kubernetes.Interface) (informers.SharedInformerFactory, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("shop"))
	_, err := freshinformers.Register(monitor, factory, &corev1.ConfigMap{},
		freshinformers.ListWatch(client.CoreV1().ConfigMaps("shop"), nil)) // the namespace again
	return factory, err
}

// The dynamic factory, and likewise the one for metadata: build it here.
func dynamicFactory(monitor *freshness.Monitor, client dynamic.Interface) (cache.GenericLister, error) {
	factory, err := freshinformers.NewDynamic(monitor, client, freshinformers.Options{
		Namespace: "shop",
		Tweak:     func(o *metav1.ListOptions) { o.LabelSelector = "app=shop" },
	})
	if err != nil {
		return nil, err
	}
	return factory.ForResource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Lister(), nil
}

// A single informer.
func single(monitor *freshness.Monitor, client kubernetes.Interface) cache.SharedIndexInformer {
	configMaps := freshinformers.ListWatch(client.CoreV1().ConfigMaps("shop"), nil)
	return monitor.NewInformer(configMaps, &corev1.ConfigMap{}, 0, cache.Indexers{})
}

// A single informer with all of client-go's options, and a name from the start.
func singleWithOptions(monitor *freshness.Monitor, client kubernetes.Interface) (cache.SharedIndexInformer, error) {
	lw := monitor.WrapListerWatcher(freshinformers.ListWatch(client.CoreV1().ConfigMaps("shop"), nil))
	informer := cache.NewSharedIndexInformerWithOptions(lw, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{
		ResyncPeriod: time.Hour, ObjectDescription: "settings",
	})
	return informer, monitor.Track(informer, lw, freshness.Informer{Version: "v1", Resource: "configmaps", Namespace: "shop"})
}

// A read for a decision that must not rest on old data: proven to be at most 10 s
// old, or an error.
func settings(ctx context.Context, monitor *freshness.Monitor, lister corelisters.ConfigMapLister) (*corev1.ConfigMap, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err := monitor.EnsureFresh(ctx, freshness.Informer{Resource: "configmaps", Namespace: "shop"}, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return lister.ConfigMaps("shop").Get("settings")
}

// The documentation shows these; here they have to compile.
var (
	_ = dynamicFactory
	_ = single
	_ = singleWithOptions
	_ = settings
)

func ExampleRegister() {
	server, err := freshtest.NewServer(freshtest.Options{}) // stands for a cluster
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	monitor, err := freshness.New(freshness.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}

	factory, err := registered(monitor, client)
	if err != nil {
		fmt.Println(err)
		return
	}
	lister := factory.Core().V1().ConfigMaps().Lister() // as ever

	ctx, stop := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	found, err := lister.List(labels.Everything())
	fmt.Println(len(found), err)
	for _, status := range monitor.Status() {
		fmt.Println(status.Informer)
	}
	stop()
	factory.Shutdown()
	// Output:
	// 0 <nil>
	// configmaps/v1 in shop
}
