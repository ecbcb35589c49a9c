// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// server is one API server, or the load balancer in front of several.
type server struct {
	name    string // host:port
	cfg     *rest.Config
	http    *http.Client
	client  *rest.RESTClient
	timeout time.Duration
}

func newServer(cfg *rest.Config, timeout time.Duration) (*server, error) {
	host, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, err
	}
	s := &server{name: host.Host, timeout: timeout}
	s.cfg = rest.CopyConfig(cfg)
	s.cfg.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	if s.http, err = rest.HTTPClientFor(s.cfg); err != nil {
		return nil, err
	}
	if s.client, err = rest.UnversionedRESTClientForConfigAndClient(s.cfg, s.http); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *server) close() { s.http.CloseIdleConnections() }

// read sends one request, and never a second: client-go would repeat an answer with
// Retry-After ten times. Parameters without a value are left out.
func (s *server) read(ctx context.Context, path string, query url.Values, accept string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request := s.client.Get().AbsPath(path).MaxRetries(0).SetHeader("Accept", accept)
	for name := range query {
		if value := query.Get(name); value != "" {
			request.Param(name, value)
		}
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// Selectors that match no object, and cost the server a look-up: see package
// freshness, which sends the same.
const (
	noName               = "freshwatch-selects-nothing"
	nothing              = "metadata.namespace=" + noName + ",metadata.name=" + noName
	nothingClusterScoped = "metadata.name=" + noName
)

// listNothing returns the resourceVersion of an empty LIST: without one, that of
// the datastore; at 0, the one at which the watch cache stands.
func (s *server) listNothing(ctx context.Context, t target, resourceVersion string) (string, error) {
	selector := nothing
	if t.clusterScoped || len(t.namespaces) > 0 {
		selector = nothingClusterScoped
	}
	list, err := s.list(ctx, t.path(t.namespace(), ""), url.Values{
		"limit": {"1"}, "fieldSelector": {selector}, "resourceVersion": {resourceVersion},
	})
	return list.ResourceVersion, err
}

// searched is how many objects are looked at in search of one that has changed.
const searched = "500"

// list returns metadata only.
func (s *server) list(ctx context.Context, path string, query url.Values) (metav1.PartialObjectMetadataList, error) {
	var list metav1.PartialObjectMetadataList
	body, err := s.read(ctx, path, query, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json")
	if err != nil {
		return list, err
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return list, fmt.Errorf("reading a list: %w", err)
	}
	return list, nil
}

// get returns the resourceVersion of an object, or "" if there is none: from the
// datastore, or from the watch cache if that is asked for by "0".
func (s *server) get(ctx context.Context, t target, object types.NamespacedName, resourceVersion string) (string, error) {
	query := url.Values{"resourceVersion": {resourceVersion}}
	body, err := s.read(ctx, t.path(object.Namespace, object.Name), query, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json")
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var found metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &found); err != nil {
		return "", fmt.Errorf("reading an object: %w", err)
	}
	return found.ResourceVersion, nil
}
