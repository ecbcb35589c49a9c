// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// Factory makes one informer for each kind that it is asked for, and runs them. It
// is a dynamicinformer.DynamicSharedInformerFactory and a
// metadatainformer.SharedInformerFactory. All methods are safe for concurrent use.
type Factory struct {
	monitor *freshness.Monitor
	opts    Options
	source  source

	mu        sync.Mutex
	informers map[schema.GroupVersionResource]informer
	started   map[schema.GroupVersionResource]bool
	down      bool
	running   sync.WaitGroup
}

// source is what a client brings for a kind.
type source struct {
	listWatch func(schema.GroupVersionResource) cache.ListerWatcher
	object    func() runtime.Object
	lister    func(cache.Indexer, schema.GroupVersionResource) cache.GenericLister
}

// informer is an informers.GenericInformer.
type informer struct {
	cache.SharedIndexInformer
	lister cache.GenericLister
}

func (i informer) Informer() cache.SharedIndexInformer { return i.SharedIndexInformer }
func (i informer) Lister() cache.GenericLister         { return i.lister }

func newFactory(m *freshness.Monitor, opts Options, s source) (*Factory, error) {
	if m == nil {
		return nil, errNoMonitor
	}
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Factory{
		monitor: m, opts: opts, source: s,
		informers: map[schema.GroupVersionResource]informer{},
		started:   map[schema.GroupVersionResource]bool{},
	}, nil
}

// ForResource returns the informer of a kind, and makes it if there is none. One
// that is made after Start runs with the next Start.
func (f *Factory) ForResource(gvr schema.GroupVersionResource) informers.GenericInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if inf, found := f.informers[gvr]; found {
		return inf
	}
	shared := f.newInformer(gvr)
	inf := informer{shared, f.source.lister(shared.GetIndexer(), gvr)}
	f.informers[gvr] = inf
	return inf
}

// newInformer makes a monitored informer that is known by its kind at once, rather
// than from its first request on.
func (f *Factory) newInformer(gvr schema.GroupVersionResource) cache.SharedIndexInformer {
	lw := f.monitor.WrapListerWatcher(f.source.listWatch(gvr))
	inf := cache.NewSharedIndexInformerWithOptions(lw, f.source.object(), cache.SharedIndexInformerOptions{
		ResyncPeriod:      f.opts.Resync,
		Indexers:          byNamespace(),
		ObjectDescription: gvr.String(),
	})
	// Neither can fail: the informer is not running, and both are new to the monitor.
	_ = inf.SetTransform(f.opts.Transform)
	_ = f.monitor.Track(inf, lw, freshness.Informer{
		Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Namespace: f.opts.Namespace,
	})
	return inf
}

// Start is StartWithContext for a channel that is closed.
func (f *Factory) Start(stopCh <-chan struct{}) {
	f.StartWithContext(wait.ContextForChannel(stopCh))
}

// StartWithContext runs every informer that does not run yet, until ctx ends. It
// returns at once.
func (f *Factory) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return
	}
	for gvr, inf := range f.informers {
		if !f.started[gvr] {
			f.started[gvr] = true
			f.running.Go(func() { inf.RunWithContext(ctx) })
		}
	}
}

// WaitForCacheSync returns when every informer that was started has synced, or
// stopCh is closed, and tells which have.
func (f *Factory) WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool {
	f.mu.Lock()
	started := make(map[schema.GroupVersionResource]informer, len(f.started))
	for gvr := range f.started {
		started[gvr] = f.informers[gvr]
	}
	f.mu.Unlock()

	synced := make(map[schema.GroupVersionResource]bool, len(started))
	for gvr, inf := range started {
		synced[gvr] = cache.WaitForCacheSync(stopCh, inf.HasSynced)
	}
	return synced
}

// Shutdown returns when every informer has stopped, for which whatever they were
// started with has to end. None starts any more.
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.down = true
	f.mu.Unlock()
	f.running.Wait()
}
