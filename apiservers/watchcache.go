// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"context"
	"errors"
	"net/url"
	"path"
	"strings"

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
// kind stands.
//
// That of a kind that nobody changes or reads is behind in health. So a consistent
// LIST comes first, which makes a living cache catch up, to where the datastore is,
// before it is answered; where the cache is frozen the server holds it for 3 s. The
// LIST at resourceVersion 0 is answered from the cache as it is then, at once.
func (i *inquiry) watchCache(ctx context.Context, gvr schema.GroupVersionResource, namespace string) (string, error) {
	selector := nothing
	if namespace != "" {
		selector = nothingClusterScoped // one namespace's objects: the name is enough
	}
	_, err := i.list(ctx, gvr, namespace, selector, "")
	if apierrors.IsBadRequest(err) && selector == nothing {
		selector = nothingClusterScoped // kinds without namespaces do not know that field
		_, err = i.list(ctx, gvr, namespace, selector, "")
	}
	switch {
	case apierrors.IsForbidden(err):
		return "", mayList(gvr, namespace, err)
	case err != nil && !stayedBehind(err): // nothing made the cache catch up: that it is behind would say nothing
		return "", err
	}
	rv, err := i.list(ctx, gvr, namespace, selector, "0")
	if err == nil && rv == "" {
		err = errors.New("the answer has no resourceVersion")
	}
	return rv, err
}

// stayedBehind says whether a consistent LIST failed because the server waited for
// its own watch cache in vain. Others fall back to the datastore instead. The text
// is all that tells it from any other 429 (apiserver 0.37,
// pkg/storage/cacher/delegator.go).
func stayedBehind(err error) bool {
	return apierrors.IsTooManyRequests(err) && strings.Contains(err.Error(), "Too large resource version")
}

// list returns the resourceVersion of an empty LIST.
func (i *inquiry) list(ctx context.Context, gvr schema.GroupVersionResource, namespace, selector, resourceVersion string) (rv string, err error) {
	query := url.Values{"limit": {"1"}, "fieldSelector": {selector}}
	if resourceVersion != "" {
		query.Set("resourceVersion", resourceVersion)
	}
	var list metav1.PartialObjectMetadataList
	err = i.read(ctx, collection(gvr, namespace), query, metadataOnly, &list)
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
