// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// run starts a control plane and stops it when ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	opts := controlplane.Options{Log: stderr}
	flags := newFlags("run", stderr)
	flags.StringVar(&opts.Version, "version", "", "Kubernetes minor `version` (default "+controlplane.DefaultVersion+")")
	flags.BoolVar(&opts.ControllerManager, "controller-manager", false, "start kube-controller-manager too")
	flags.BoolVar(&opts.Scheduler, "scheduler", false, "start kube-scheduler too")
	flags.StringVar((*string)(&opts.Datastore), "datastore", "", "`program` to keep the objects in, etcd or kine (default etcd)")
	flags.IntVar(&opts.APIServerPort, "port", 0, "`port` of kube-apiserver (default a free one)")
	flags.StringVar(&opts.Dir, "dir", "", "empty `directory` for data and logs, kept at the end (default a temporary one)")
	kubeconfig := flags.String("kubeconfig", "", "write the administrator's kubeconfig to this `file` too")
	if err := parse(flags, args); err != nil {
		return err
	}

	c, err := controlplane.Start(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	file := c.Kubeconfig()
	if *kubeconfig != "" {
		file = *kubeconfig
		if err := controlplane.WriteKubeconfig(file, c.Config()); err != nil {
			return err
		}
	}
	if err := introduce(stdout, c, opts.Datastore, file); err != nil {
		return err
	}
	<-ctx.Done()
	_, err = fmt.Fprintln(stdout, "\nstopping")
	return err
}

// introduce says how to use a control plane that runs.
func introduce(stdout io.Writer, c *controlplane.ControlPlane, datastore controlplane.Component, kubeconfig string) error {
	if datastore == "" {
		datastore = controlplane.Etcd
	}
	_, err := fmt.Fprintf(stdout, `
kube-apiserver  %s  (log: %s)
%-14s  %s

    export KUBECONFIG=%s
    kubectl get namespaces

Ctrl-C stops it.
`, c.APIServerURL(), c.LogFile(controlplane.APIServer), datastore, c.EtcdURL(), kubeconfig)
	return err
}
