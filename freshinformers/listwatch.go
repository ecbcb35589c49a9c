// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// client is what every client for one kind has, be it typed, dynamic or for
// metadata. L is its type of lists.
type client[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// ListWatch returns a ListerWatcher of one kind's client, such as
// clientset.CoreV1().ConfigMaps(namespace) or, for the dynamic and the metadata
// client, c.Resource(gvr).Namespace(namespace). tweak, which may be nil, changes
// the options of each request: label and field selectors, mostly.
//
// It passes on the context, by which a monitor ends a silent watch, and sets no
// field selector of its own, as cache.NewListWatchFromClient does: the reads behind
// proofs are cheapest with theirs (see freshness).
//
// The fake clientsets of client-go do not stream initial events, and an informer
// of one never syncs unless it is told:
// cache.ToListWatcherWithWatchListSemantics(lw, clientset). For a real one that
// changes nothing. NewDynamic and NewMetadata do it themselves.
func ListWatch[L runtime.Object](c client[L], tweak func(*metav1.ListOptions)) *cache.ListWatch {
	if tweak == nil {
		tweak = func(*metav1.ListOptions) {}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			tweak(&opts)
			return c.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			tweak(&opts)
			return c.Watch(ctx, opts)
		},
	}
}
