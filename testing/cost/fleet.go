// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// fleet is the informers of a process, and the monitor if it has one.
type fleet struct {
	client    dynamic.Interface
	informers []cache.SharedIndexInformer
	monitor   *freshness.Monitor // nil: none
	watch     *witness
	stop      func()
}

// startFleet starts an informer for each kind in each namespace. They share one
// client, as those of a program that uses client-go do.
func startFleet(ctx context.Context, cfg *rest.Config, j job) (*fleet, error) {
	f := &fleet{watch: newWitness()}
	var err error
	if f.client, err = dynamic.NewForConfig(cfg); err != nil {
		return nil, err
	}
	if j.Monitor {
		if f.monitor, err = freshness.New(freshness.Options{Observer: f.watch.see}); err != nil {
			return nil, err
		}
	}
	for i := range j.Kinds {
		for _, ns := range j.Namespaces {
			f.informers = append(f.informers, f.informer(i, ns))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	f.stop = func() { cancel(); wg.Wait() }
	for _, inf := range f.informers {
		wg.Go(func() { inf.RunWithContext(ctx) })
	}
	if f.monitor != nil {
		wg.Go(func() { _ = f.monitor.Start(ctx) }) // fails only if started twice
	}
	return f, nil
}

func (f *fleet) informer(i int, ns string) cache.SharedIndexInformer {
	r := f.client.Resource(resource(i)).Namespace(ns)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return r.Watch(ctx, o)
		},
	}
	if f.monitor != nil {
		return f.monitor.NewInformer(lw, &unstructured.Unstructured{}, 0, cache.Indexers{})
	}
	return cache.NewSharedIndexInformer(lw, &unstructured.Unstructured{}, 0, cache.Indexers{})
}

var errNotSynced = errors.New("not all informers are synced")

func (f *fleet) awaitSync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncWithin)
	defer cancel()
	for _, inf := range f.informers {
		if !cache.WaitForCacheSync(ctx.Done(), inf.HasSynced) {
			return fmt.Errorf("%w within %v: %w", errNotSynced, syncWithin, context.Cause(ctx))
		}
	}
	return nil
}
