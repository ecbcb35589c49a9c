// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/client-go/rest"
)

// AddAPIServer starts one more kube-apiserver on the same etcd, as a control plane of several nodes has, and returns when it is ready. It
// is configured like the first, on a port of its own, and reaches etcd by a call of Options.WrapEtcd of its own, so that one of them can be
// frozen and the others not. The name is for Pause, Resume, Restart and LogFile; the configuration is the administrator's, as Config's, and
// a user's once its Impersonate is set.
//
// Nothing spreads clients over the servers, and no Endpoints name them: put a proxy in front.
func (c *ControlPlane) AddAPIServer(ctx context.Context) (Component, *rest.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return "", nil, fmt.Errorf("controlplane: add %s: %w", APIServer, errStopped)
	}
	name := c.nextAPIServer()
	port, err := c.launchAPIServer(ctx, name, 0)
	if err != nil {
		return "", nil, fmt.Errorf("controlplane: add %s: %w", name, err)
	}
	cfg := c.Config()
	cfg.Host = "https://" + loopback(port)
	return name, cfg, nil
}

// nextAPIServer names one more: kube-apiserver-2 is the first that is added.
func (c *ControlPlane) nextAPIServer() Component {
	n := 1
	for _, comp := range c.components {
		if comp.name.program() == APIServer {
			n++
		}
	}
	return Component(fmt.Sprintf("%s-%d", APIServer, n))
}

// launchAPIServer starts a kube-apiserver of that name on the fixed port, or on a free one if that is 0.
func (c *ControlPlane) launchAPIServer(ctx context.Context, name Component, fixed int) (int, error) {
	backend, err := c.wrappedEtcd(ctx)
	if err != nil {
		return 0, err
	}
	certs := "certs" + strings.TrimPrefix(string(name), string(APIServer))
	return c.launch(ctx, name, fixed, func(port int) ([]string, func(context.Context) error) {
		args := apiServerArgs(c.pki, c.file("tokens.csv"), c.file(certs), backend, port, c.opts.ControllerManager)
		return mergeFlags(args, c.opts.APIServerArgs), c.probeReady(port, "/readyz", c.tokens[adminUser])
	})
}

// program is what a component runs: those that were added run the same as the first.
func (name Component) program() Component {
	if strings.HasPrefix(string(name), string(APIServer)+"-") {
		return APIServer
	}
	return name
}
