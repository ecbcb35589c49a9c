// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatalister"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// NewMetadata returns a metadatainformer.SharedInformerFactory whose informers the
// monitor watches over, in place of
// metadatainformer.NewFilteredSharedInformerFactory. They hold
// *metav1.PartialObjectMetadata.
//
// It fails if m or client is nil, or an option is out of range.
func NewMetadata(m *freshness.Monitor, client metadata.Interface, opts Options) (*Factory, error) {
	if client == nil {
		return nil, errNoClient
	}
	return newFactory(m, opts, source{
		listWatch: func(gvr schema.GroupVersionResource) cache.ListerWatcher {
			lw := ListWatch(client.Resource(gvr).Namespace(opts.Namespace), opts.Tweak)
			return cache.ToListWatcherWithWatchListSemantics(lw, client)
		},
		object: func() runtime.Object { return &metav1.PartialObjectMetadata{} },
		lister: func(store cache.Indexer, gvr schema.GroupVersionResource) cache.GenericLister {
			return metadatalister.NewRuntimeObjectShim(metadatalister.New(store, gvr))
		},
	})
}
