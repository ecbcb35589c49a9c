// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/freshwatch/freshwatch/apiservers"
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

// connect returns the servers to ask.
func (o options) connect(ctx context.Context, cfg *rest.Config) (asked []*server, err error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // a limit would be measured along with the server
	cfg.WarningHandler = rest.NoWarnings{}
	cfg.Timeout = 0
	configs := []*rest.Config{cfg}
	if o.all || len(o.servers) > 0 {
		if configs, err = o.eachServer(ctx, cfg); err != nil {
			return nil, err
		}
	}
	for _, each := range configs {
		s, err := newServer(each, o.timeout)
		if err != nil {
			return asked, err
		}
		asked = append(asked, s)
	}
	return asked, nil
}

// eachServer returns a config for each API server at an address of its own.
func (o options) eachServer(ctx context.Context, cfg *rest.Config) (configs []*rest.Config, err error) {
	addresses := o.servers
	if o.all {
		ctx, cancel := context.WithTimeout(ctx, o.timeout)
		defer cancel()
		if addresses, err = apiservers.Find(ctx, cfg); err != nil {
			return nil, err
		}
	}
	for _, address := range addresses {
		direct, err := apiservers.At(cfg, address)
		if err != nil {
			return nil, err
		}
		configs = append(configs, direct)
	}
	return configs, nil
}
