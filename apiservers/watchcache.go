// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"errors"
	"net/url"
	"path"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Selectors that match no object, and cost the server a look-up: package
// freshness sends the same, and says why.
const (
	noName               = "freshwatch-selects-nothing"
	nothing              = "metadata.namespace=" + noName + ",metadata.name=" + noName
	nothingClusterScoped = "metadata.name=" + noName
)

const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// watchCache returns the resourceVersion at which the server's watch cache for a
// kind stands: a LIST at resourceVersion 0 is answered from it as it is, at once,
// however far it is behind.
func (i *inquiry) watchCache(gvr schema.GroupVersionResource, namespace string) (string, error) {
	selector := nothing
	if namespace != "" {
		selector = nothingClusterScoped // one namespace's objects: the name is enough
	}
	rv, err := i.list(gvr, namespace, selector)
	if apierrors.IsBadRequest(err) && selector == nothing {
		rv, err = i.list(gvr, namespace, nothingClusterScoped) // kinds without namespaces do not know that field
	}
	switch {
	case apierrors.IsForbidden(err):
		return "", mayList(gvr, namespace, err)
	case err == nil && rv == "":
		return "", errors.New("the answer has no resourceVersion")
	}
	return rv, err
}

func (i *inquiry) list(gvr schema.GroupVersionResource, namespace, selector string) (rv string, err error) {
	var list metav1.PartialObjectMetadataList
	query := url.Values{"resourceVersion": {"0"}, "limit": {"1"}, "fieldSelector": {selector}}
	err = i.read(collection(gvr, namespace), query, metadataOnly, &list)
	return list.ResourceVersion, err
}

// collection is the path of a kind's objects.
func collection(gvr schema.GroupVersionResource, namespace string) string {
	root := "/apis"
	if gvr.Group == "" {
		root = "/api"
	}
	if namespace != "" {
		namespace = path.Join("namespaces", namespace)
	}
	return path.Join(root, gvr.Group, gvr.Version, namespace, gvr.Resource)
}
