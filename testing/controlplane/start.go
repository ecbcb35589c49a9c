// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
)

// portTries is how many free ports are tried before giving up: between choosing a port and listening on it, another program may take it.
const portTries = 5

// start brings the components up one after the other.
func (c *ControlPlane) start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.pki, err = newPKI(c.dir.path); err != nil {
		return err
	}
	c.client = probeClient(c.pki.caPEM)
	if c.tokens, err = writeTokens(c.file("tokens.csv")); err != nil {
		return err
	}
	if err := c.startDatastore(ctx); err != nil {
		return err
	}
	if err := c.startAPIServer(ctx); err != nil {
		return err
	}
	if c.opts.ControllerManager {
		if err := c.startClient(ctx, ControllerManager, controllerManagerUser, controllerManagerArgs, c.opts.ControllerManagerArgs); err != nil {
			return err
		}
	}
	if c.opts.Scheduler {
		return c.startClient(ctx, Scheduler, schedulerUser, schedulerArgs, c.opts.SchedulerArgs)
	}
	return nil
}

func (c *ControlPlane) startDatastore(ctx context.Context) error {
	start := c.startEtcd
	if c.opts.Datastore == Kine {
		start = c.startKine
	}
	port, err := start(ctx)
	if err != nil {
		return err
	}
	c.etcdURL = "http://" + loopback(port)
	return nil
}

func (c *ControlPlane) startEtcd(ctx context.Context) (int, error) {
	// No other etcd has this name, see probeEtcd.
	member := "freshwatch-" + strings.ToLower(rand.Text())
	return c.launch(ctx, Etcd, c.opts.EtcdPort, func(port int) ([]string, func(context.Context) error) {
		url := "http://" + loopback(port)
		args := mergeFlags(etcdArgs(member, c.data(), port), c.opts.EtcdArgs)
		return args, func(ctx context.Context) error { return probeEtcd(ctx, c.client, url, member) }
	})
}

func (c *ControlPlane) startKine(ctx context.Context) (int, error) {
	if err := os.Mkdir(c.data(), 0o700); err != nil {
		return 0, err
	}
	return c.launch(ctx, Kine, c.opts.EtcdPort, func(port int) ([]string, func(context.Context) error) {
		return mergeFlags(kineArgs(c.data(), port), c.opts.EtcdArgs), nil
	})
}

func (c *ControlPlane) startAPIServer(ctx context.Context) error {
	port, err := c.launchAPIServer(ctx, APIServer, c.opts.APIServerPort)
	if err != nil {
		return err
	}
	c.apiServerURL = "https://" + loopback(port)
	return WriteKubeconfig(c.Kubeconfig(), c.Config())
}

// wrappedEtcd is the address that kube-apiserver is told.
func (c *ControlPlane) wrappedEtcd(ctx context.Context) (string, error) {
	if c.opts.WrapEtcd == nil {
		return c.etcdURL, nil
	}
	url, err := c.opts.WrapEtcd(ctx, c.etcdURL)
	if err != nil {
		return "", fmt.Errorf("Options.WrapEtcd: %w", err)
	}
	if url == "" {
		return "", errors.New("Options.WrapEtcd returned an empty URL: must return the one that kube-apiserver shall use")
	}
	return url, nil
}

// startClient starts a component that is itself a client of the API server.
func (c *ControlPlane) startClient(
	ctx context.Context, name Component, user string, args func(p *pki, kubeconfig string, port int) []string, extra []string,
) error {
	kubeconfig := c.file(string(name) + ".kubeconfig")
	if err := WriteKubeconfig(kubeconfig, c.configFor(c.tokens[user])); err != nil {
		return err
	}
	_, err := c.launch(ctx, name, 0, func(port int) ([]string, func(context.Context) error) {
		return mergeFlags(args(c.pki, kubeconfig, port), extra), c.probeReady(port, "/healthz", "")
	})
	return err
}

func (c *ControlPlane) probeReady(port int, path, token string) func(context.Context) error {
	url := "https://" + loopback(port) + path
	return func(ctx context.Context) error { return probeHTTP(ctx, c.client, url, token) }
}

// launch starts a component on the fixed port, or on a free one if that is 0, and returns the port. Given a port, describe returns
// the command line and the probe, if there is one.
func (c *ControlPlane) launch(
	ctx context.Context, name Component, fixed int, describe func(port int) ([]string, func(context.Context) error),
) (int, error) {
	for try := 1; ; try++ {
		port := fixed
		if port == 0 {
			var err error
			if port, err = freePort(); err != nil {
				return 0, err
			}
		}
		args, probe := describe(port)
		comp := &component{
			name: name, path: c.binaries.path(name.program()), args: args, port: port,
			logPath: c.LogFile(name), announces: announcement(name), probe: probe, timeout: c.opts.StartTimeout,
		}
		err := comp.start(ctx)
		switch {
		case err == nil:
			c.components = append(c.components, comp)
			return port, nil
		case !errors.Is(err, errPortTaken) || fixed != 0 || try == portTries:
			return 0, err
		}
		c.log.printf("%v: trying another", err)
	}
}
