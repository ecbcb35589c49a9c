// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Kind is a resource type that the server serves, in one version. One that client-go has no type for is served as a
// custom resource: it has a metadata.generation, an update needs a resourceVersion, and there is no strategic merge
// patch.
type Kind struct {
	// Group is the API group; empty for the core group.
	Group string
	// Version is the API version, such as "v1". Required.
	Version string
	// Kind is the name in objects, such as "Widget". Required.
	Kind string
	// Resource is the name in paths, plural and lower case, such as "widgets". Required.
	Resource string
	// Namespaced says whether objects live in namespaces.
	Namespaced bool
	// Status gives the kind the status subresource: writes to the object leave the status alone, writes to /status change
	// nothing else, and metadata.generation counts the changes outside metadata and status.
	Status bool
	// SelectableFields are the paths that field selectors may name, such as "spec.nodeName", besides metadata.name and
	// metadata.namespace. Any other is answered with 400, as by kube-apiserver.
	SelectableFields []string
}

// GVR returns the group, version and resource, by which faults and counters select a kind.
func (k Kind) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}
}

// GVK returns the group, version and kind.
func (k Kind) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

func (k Kind) groupResource() schema.GroupResource { return k.GVR().GroupResource() }
func (k Kind) groupVersion() schema.GroupVersion   { return k.GVK().GroupVersion() }

// custom reports whether the kind is a custom resource.
func (k Kind) custom() bool { return !scheme.Scheme.Recognizes(k.GVK()) }

// generations reports whether metadata.generation counts the changes of what is desired.
func (k Kind) generations() bool { return k.Status || k.custom() }

func (k Kind) validate() error {
	for _, field := range []struct{ name, value string }{
		{"Version", k.Version}, {"Kind", k.Kind}, {"Resource", k.Resource},
	} {
		if field.value == "" {
			return fmt.Errorf("%s of kind %+v is empty, but required", field.name, k)
		}
	}
	return nil
}

// defaultKinds are what a manager and its informers need before the first kind of their own.
func defaultKinds() []Kind {
	return []Kind{
		{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
		{Version: "v1", Kind: "Secret", Resource: "secrets", Namespaced: true, SelectableFields: []string{"type"}},
		{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true, Status: true,
			SelectableFields: []string{"spec.nodeName", "status.phase"}},
		{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true,
			SelectableFields: []string{"involvedObject.kind", "involvedObject.name", "involvedObject.uid", "reason", "type"}},
		{Version: "v1", Kind: "Namespace", Resource: "namespaces", Status: true, SelectableFields: []string{"status.phase"}},
		{Group: "events.k8s.io", Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
		{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases", Namespaced: true},
	}
}
