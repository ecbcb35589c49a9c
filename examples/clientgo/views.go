// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshinformers"
	"github.com/freshwatch/freshwatch/freshness"
)

// views are what the program sees of its namespace.
type views struct {
	configMaps corelisters.ConfigMapNamespaceLister
	factories  []interface {
		StartWithContext(ctx context.Context)
		Shutdown()
	}
	handled []cache.InformerSynced
	client  *http.Client
}

func newViews(log logr.Logger, monitor *freshness.Monitor, cfg *rest.Config, namespace string) (*views, error) {
	client, err := rest.HTTPClientFor(cfg) // one connection for all
	if err != nil {
		return nil, err
	}
	typedClient, err1 := kubernetes.NewForConfigAndClient(cfg, client)
	dynamicClient, err2 := dynamic.NewForConfigAndClient(cfg, client)
	metadataClient, err3 := metadata.NewForConfigAndClient(cfg, client)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}

	// A generated factory takes the monitored informer in place of its own. The
	// namespace is said twice, since a factory does not tell its own.
	typed := informers.NewSharedInformerFactoryWithOptions(typedClient, 0, informers.WithNamespace(namespace))
	err1 = freshinformers.Register(monitor, typed, &corev1.ConfigMap{},
		freshinformers.ListWatch(typedClient.CoreV1().ConfigMaps(namespace), nil))
	configMaps := typed.Core().V1().ConfigMaps() // from here on as ever

	// The dynamic and the metadata factory are made here rather than by client-go.
	// Of Secrets nobody needs to hold more than the names.
	untyped, err2 := freshinformers.NewDynamic(monitor, dynamicClient, freshinformers.Options{Namespace: namespace})
	partial, err3 := freshinformers.NewMetadata(monitor, metadataClient, freshinformers.Options{Namespace: namespace})
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	deployments := untyped.ForResource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	secrets := partial.ForResource(corev1.SchemeGroupVersion.WithResource("secrets"))

	v := &views{configMaps: configMaps.Lister().ConfigMaps(namespace), client: client}
	v.factories = append(v.factories, typed, untyped, partial)
	for kind, informer := range map[string]cache.SharedIndexInformer{
		"ConfigMap": configMaps.Informer(), "Deployment": deployments.Informer(), "Secret": secrets.Informer(),
	} {
		handler, err := informer.AddEventHandler(logChanges(log.WithValues("kind", kind)))
		if err != nil {
			return nil, err
		}
		v.handled = append(v.handled, handler.HasSynced)
	}
	return v, nil
}

// logChanges stands for what a program does about a change: put its key into a
// workqueue.
func logChanges(log logr.Logger) cache.ResourceEventHandler {
	say := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			log.Info("Changed", "object", key)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: say, UpdateFunc: func(_, obj any) { say(obj) }, DeleteFunc: say}
}

// start runs every informer until ctx ends.
func (v *views) start(ctx context.Context) {
	for _, f := range v.factories {
		f.StartWithContext(ctx)
	}
}

// synced waits for the caches, and for the handlers to have seen what is in them.
func (v *views) synced(ctx context.Context) bool {
	return cache.WaitForCacheSync(ctx.Done(), v.handled...)
}

// stop returns when every informer has stopped, after their context has ended.
func (v *views) stop() {
	for _, f := range v.factories {
		f.Shutdown()
	}
	v.client.CloseIdleConnections()
}
