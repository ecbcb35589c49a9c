// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// NewDynamic returns a dynamicinformer.DynamicSharedInformerFactory whose informers
// the monitor watches over, in place of
// dynamicinformer.NewFilteredDynamicSharedInformerFactory. They hold
// *unstructured.Unstructured.
//
// It fails if m or client is nil, or an option is out of range.
func NewDynamic(m *freshness.Monitor, client dynamic.Interface, opts Options) (*Factory, error) {
	if client == nil {
		return nil, errNoClient
	}
	return newFactory(m, opts, source{
		listWatch: func(gvr schema.GroupVersionResource) cache.ListerWatcher {
			lw := ListWatch(client.Resource(gvr).Namespace(opts.Namespace), opts.Tweak)
			return cache.ToListWatcherWithWatchListSemantics(lw, client)
		},
		object: func() runtime.Object { return &unstructured.Unstructured{} },
		lister: func(store cache.Indexer, gvr schema.GroupVersionResource) cache.GenericLister {
			return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(store, gvr))
		},
	})
}
