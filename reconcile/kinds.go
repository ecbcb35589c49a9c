// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/freshness"
)

// Kinds names the informers that hold objects of the kinds of objs, which may be
// empty but for a namespace: without one, those of all namespaces count. It asks the
// client's RESTMapper, and so perhaps the API server; the error names the kind that
// is not known to the scheme, or not served.
func Kinds(c client.Client, objs ...client.Object) ([]freshness.Informer, error) {
	if c == nil || len(objs) == 0 {
		return nil, errors.New("reconcile: Kinds wants a client and at least one object")
	}
	var out []freshness.Informer
	for _, obj := range objs {
		gvk, err := c.GroupVersionKindFor(obj)
		if err != nil {
			return nil, fmt.Errorf("reconcile: the kind of a %T: %w", obj, err)
		}
		mapping, err := c.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			return nil, fmt.Errorf("reconcile: the resource of %v: %w", gvk, err)
		}
		gr := mapping.Resource.GroupResource()
		out = append(out, freshness.Informer{Group: gr.Group, Resource: gr.Resource, Namespace: obj.GetNamespace()})
	}
	return out, nil
}
