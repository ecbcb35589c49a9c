// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
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
}

func newViews(log logr.Logger, monitor *freshness.Monitor, c clients, namespace string) (*views, error) {
	// A generated factory takes the monitored informer in place of its own. The
	// namespace is said twice, since a factory does not tell its own.
	typed := informers.NewSharedInformerFactoryWithOptions(c.typed, 0, informers.WithNamespace(namespace))
	configMaps, err1 := freshinformers.Register(monitor, typed, &corev1.ConfigMap{},
		freshinformers.ListWatch(c.typed.CoreV1().ConfigMaps(namespace), nil))

	// The dynamic and the metadata factory are made here rather than by client-go.
	// Of Secrets the metadata will do: nobody has to hold their contents.
	untyped, err2 := freshinformers.NewDynamic(monitor, c.dynamic, freshinformers.Options{Namespace: namespace})
	partial, err3 := freshinformers.NewMetadata(monitor, c.metadata, freshinformers.Options{Namespace: namespace})
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	deployments := untyped.ForResource(appsv1.SchemeGroupVersion.WithResource("deployments")).Informer()
	secrets := partial.ForResource(corev1.SchemeGroupVersion.WithResource("secrets")).Informer()

	v := &views{configMaps: typed.Core().V1().ConfigMaps().Lister().ConfigMaps(namespace)} // listers are as ever
	v.factories = append(v.factories, typed, untyped, partial)
	for kind, informer := range map[string]cache.SharedIndexInformer{
		"ConfigMap": configMaps, "Deployment": deployments, "Secret": secrets,
	} {
		// As informer.AddEventHandler, and the monitor sees a handler that blocks.
		handler, err := monitor.AddEventHandler(informer, logChanges(log.WithValues("kind", kind)))
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
}
