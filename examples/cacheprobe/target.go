// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

// target is a kind to ask about.
type target struct {
	resource      schema.GroupVersionResource
	clusterScoped bool
	namespaces    []string             // where to read; all if empty
	object        types.NamespacedName // a hot one; none if its name is empty
}

// leases are what every cluster renews all the time: the control plane's in
// kube-system, the nodes' in kube-node-lease.
func leases() target {
	return target{
		resource:   schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
		namespaces: []string{"kube-system", "kube-node-lease"},
	}
}

// controls are kinds that hardly ever change. One whose watch cache keeps up all
// the same shows that the datastore reports its progress.
func controls() []target {
	return []target{
		{resource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, clusterScoped: true},
		{resource: schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}},
	}
}

// path is the URL's, of the kind or of one of its objects.
func (t target) path(namespace, name string) string {
	prefix := "/apis/" + t.resource.Group
	if t.resource.Group == "" {
		prefix = "/api"
	}
	if namespace != "" {
		namespace = path.Join("namespaces", namespace)
	}
	return path.Join(prefix, t.resource.Version, namespace, t.resource.Resource, name)
}

// namespace is the first to read in, or "" for all.
func (t target) namespace() string {
	if len(t.namespaces) == 0 {
		return ""
	}
	return t.namespaces[0]
}

// targets resolves the names of kinds by discovery; the default needs none.
func (o options) targets(ctx context.Context, s *server) ([]target, error) {
	if len(o.resources) == 0 {
		t := leases()
		t.object = o.object
		if o.namespace != "" {
			t.namespaces = []string{o.namespace}
		}
		return []target{t}, nil
	}
	cfg := *s.cfg
	cfg.Timeout = s.timeout
	client, err := discovery.NewDiscoveryClientForConfigAndClient(&cfg, s.http)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	var all []target
	for _, name := range o.resources {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t, err := resolve(mapper, name)
		if err != nil {
			return nil, err
		}
		if o.namespace != "" && !t.clusterScoped {
			t.namespaces = []string{o.namespace}
		}
		t.object = o.object
		all = append(all, t)
	}
	return all, nil
}

// resolve reads names as kubectl does: configmaps, leases.coordination.k8s.io,
// widgets.v1.example.com.
func resolve(mapper meta.RESTMapper, name string) (target, error) {
	full, partial := schema.ParseResourceArg(name)
	resource, err := schema.GroupVersionResource{}, error(nil)
	if full != nil {
		resource, err = mapper.ResourceFor(*full)
	}
	if full == nil || err != nil {
		resource, err = mapper.ResourceFor(partial.WithVersion(""))
	}
	if err != nil {
		return target{}, fmt.Errorf("-resource %s: %w", name, err)
	}
	kind, err := mapper.KindFor(resource)
	if err != nil {
		return target{}, fmt.Errorf("-resource %s: %w", name, err)
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return target{}, fmt.Errorf("-resource %s: %w", name, err)
	}
	return target{resource: resource, clusterScoped: mapping.Scope.Name() == meta.RESTScopeNameRoot}, nil
}
