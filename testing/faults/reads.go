// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// reads is what an untyped informer reads by.
func (j job) reads(r dynamic.ResourceInterface) cache.ListerWatcher {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if j.WatchFor > 0 && o.TimeoutSeconds != nil {
				o.TimeoutSeconds = new(min(*o.TimeoutSeconds, int64(j.WatchFor/time.Second)))
			}
			return r.Watch(ctx, o)
		},
	}
	if j.ListFirst {
		return listFirst{lw}
	}
	return lw
}

// listFirst makes client-go's reflector fill its cache by LIST, as it does by itself
// where the server has no WatchList.
type listFirst struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is what the reflector asks.
func (listFirst) IsWatchListSemanticsUnSupported() bool { return true }
