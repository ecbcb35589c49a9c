// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// ErrNotNamed is what Find returns where the cluster does not tell its API
// servers.
var ErrNotNamed = errors.New("EndpointSlice default/kubernetes names no API server")

// endpointSlice is where each kube-apiserver enters its own address, unless it is
// told not to (--endpoint-reconciler-type; kubernetes 1.37,
// pkg/controlplane/reconcilers).
const endpointSlice = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"

// Find returns the addresses of the API servers, host:port and sorted, that
// EndpointSlice default/kubernetes names. A GET reads it from the datastore, so
// that it is right, and there, where watch caches are frozen. It is sent over a
// connection of its own, which is closed afterwards, and takes until ctx ends at
// most.
//
// The error is ErrNotNamed where there is no such object, or no address in it; a
// *RightsError where it must not be read; or what else keeps it from being read.
func Find(ctx context.Context, cfg *rest.Config) ([]string, error) {
	if _, err := usualURL(cfg); err != nil {
		return nil, err
	}
	inquiry, err := inquire(cfg)
	if err != nil {
		return nil, fmt.Errorf("apiservers: %w", err)
	}
	defer inquiry.end()
	var slice discoveryv1.EndpointSlice
	err = inquiry.read(ctx, endpointSlice, nil, "application/json", &slice)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%w: %w", ErrNotNamed, err)
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("reading EndpointSlice default/kubernetes: %w", mayRead(err))
	case err != nil:
		return nil, fmt.Errorf("reading EndpointSlice default/kubernetes: %w", err)
	}
	addresses := named(slice)
	if len(addresses) == 0 {
		return nil, ErrNotNamed
	}
	return addresses, nil
}

// named returns what an EndpointSlice of Service kubernetes names. That its port
// is called https is kube-apiserver's doing
// (pkg/controlplane/controller/kubernetesservice); others are not the API's.
func named(slice discoveryv1.EndpointSlice) []string {
	var found []string
	for _, endpoint := range slice.Endpoints {
		for _, address := range endpoint.Addresses {
			for _, port := range slice.Ports {
				if port.Port != nil && (port.Name == nil || *port.Name == "" || *port.Name == "https") {
					found = append(found, net.JoinHostPort(address, strconv.Itoa(int(*port.Port))))
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
