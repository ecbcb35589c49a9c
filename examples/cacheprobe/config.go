// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// loadConfig finds the cluster as kubectl does, and the Pod's own if there is no
// kubeconfig.
func loadConfig(kubeconfig, contextName string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: contextName}
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	return cfg, nil
}

// at returns a config for one API server at an address of its own. Its certificate
// has to be good for the name by which it is usually called.
func at(cfg *rest.Config, address string) (*rest.Config, error) {
	usual, err := url.Parse(cfg.Host)
	if err != nil || usual.Host == "" {
		return nil, fmt.Errorf("the server's address %q in the kubeconfig is no URL", cfg.Host)
	}
	direct := rest.CopyConfig(cfg)
	direct.Host = "https://" + address
	direct.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	if direct.ServerName == "" {
		direct.ServerName = usual.Hostname()
	}
	return direct, nil
}

// addresses returns those of every API server. It is a read from the datastore, so
// that it is right where the watch cache is not.
func addresses(ctx context.Context, s *server) ([]string, error) {
	body, err := s.read(ctx, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes", nil, "application/json")
	if err != nil {
		return nil, fmt.Errorf("reading EndpointSlice default/kubernetes: %w", err)
	}
	var slice discoveryv1.EndpointSlice
	if err := json.Unmarshal(body, &slice); err != nil {
		return nil, fmt.Errorf("reading EndpointSlice default/kubernetes: %w", err)
	}
	var found []string
	for _, endpoint := range slice.Endpoints {
		for _, address := range endpoint.Addresses {
			for _, port := range slice.Ports {
				if port.Port != nil {
					found = append(found, net.JoinHostPort(address, strconv.Itoa(int(*port.Port))))
				}
			}
		}
	}
	if len(found) == 0 {
		return nil, errNoServers
	}
	return found, nil
}

var errNoServers = errors.New("EndpointSlice default/kubernetes names no API server")

// servers returns those to ask, and the one at the config's own address.
func (o options) connect(ctx context.Context, cfg *rest.Config) (usual *server, asked []*server, err error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // a limit would be measured along with the server
	cfg.WarningHandler = rest.NoWarnings{}
	cfg.Timeout = 0
	usual, err = newServer(cfg, o.timeout)
	if err != nil {
		return nil, nil, err
	}
	named := o.servers
	if o.all {
		if named, err = addresses(ctx, usual); err != nil {
			return usual, nil, err
		}
	}
	if len(named) == 0 {
		return usual, []*server{usual}, nil
	}
	for _, address := range named {
		direct, err := at(cfg, address)
		if err != nil {
			return usual, asked, err
		}
		s, err := newServer(direct, o.timeout)
		if err != nil {
			return usual, asked, err
		}
		asked = append(asked, s)
	}
	return usual, asked, nil
}
