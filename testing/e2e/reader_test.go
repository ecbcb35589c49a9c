// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// dynamicLW returns what an informer of a kind in one namespace reads by.
func dynamicLW(client dynamic.Interface, k kind, ns string) cache.ListerWatcher {
	r := client.Resource(k.gvr()).Namespace(ns)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return r.Watch(ctx, o)
		},
	}
}

// reader changes how an informer reads; nil: not at all.
type reader func(cache.ListerWatcher) cache.ListerWatcher

// withoutWatchList makes client-go's reflector fill its cache by LIST, as it does
// by itself where the server has no WatchList.
func withoutWatchList(lw cache.ListerWatcher) cache.ListerWatcher {
	return listFirst{cache.ToListerWatcherWithContext(lw)}
}

type listFirst struct{ cache.ListerWatcherWithContext }

func (listFirst) IsWatchListSemanticsUnSupported() bool { return true }

func (l listFirst) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), o)
}

func (l listFirst) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), o)
}

// withoutContext makes a client of the time before ListerWatchers had contexts, and
// before WatchList.
func withoutContext(lw cache.ListerWatcher) cache.ListerWatcher { return contextless{lw} }

type contextless struct{ cache.ListerWatcher }

func (contextless) IsWatchListSemanticsUnSupported() bool { return true }
