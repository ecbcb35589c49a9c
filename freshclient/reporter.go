// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshclient

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/freshness"
)

// kinds knows the kind of an object.
type kinds interface {
	GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error)
}

// reporter tells a monitor of writes. What it cannot name is not reported: it is
// a hint, and no write fails for it.
type reporter struct {
	scheme  kinds
	mapper  meta.RESTMapper
	monitor *freshness.Monitor
}

// object reports a write whose result is in obj.
func (r reporter) object(obj client.Object) {
	gvk, err := r.scheme.GroupVersionKindFor(obj)
	if err != nil {
		return
	}
	r.wrote(gvk, obj)
}

// applied reports an apply, whose result is in the configuration. Those of typed
// clients have pointers where objects have fields, and no interface for them.
func (r reporter) applied(obj runtime.ApplyConfiguration) {
	text, err := json.Marshal(obj)
	if err != nil {
		return
	}
	var m metav1.PartialObjectMetadata
	if json.Unmarshal(text, &m) == nil {
		r.wrote(m.GroupVersionKind(), &m)
	}
}

func (r reporter) wrote(gvk schema.GroupVersionKind, obj metav1.Object) {
	of, err := informerOf(r.mapper, gvk, obj.GetNamespace())
	if err != nil || obj.GetResourceVersion() == "" {
		return
	}
	r.monitor.Wrote(of, cache.NewObjectName(obj.GetNamespace(), obj.GetName()).String(), obj.GetResourceVersion())
}

// informerOf names the informers that hold objects of a kind in a namespace.
func informerOf(mapper meta.RESTMapper, gvk schema.GroupVersionKind, namespace string) (freshness.Informer, error) {
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return freshness.Informer{}, err
	}
	return freshness.Informer{Group: mapping.Resource.Group, Resource: mapping.Resource.Resource, Namespace: namespace}, nil
}
