// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command clientgo is a program without controller-runtime whose informers cannot
// go stale unnoticed: one of a generated factory, one dynamic, one for metadata
// alone. It logs what changes, and answers reads that are proven fresh.
//
// Written to be copied; README.md says what each part is for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := start(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "clientgo:", err)
		os.Exit(1)
	}
}

// start runs the program that the flags describe until ctx ends.
func start(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("clientgo", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", os.Getenv("KUBECONFIG"), "`file` to reach the cluster with; none inside a Pod")
	namespace := flags.String("namespace", "default", "the namespace to watch")
	listen := flags.String("listen", "127.0.0.1:8080", "`address` to serve on; :8080 inside a Pod")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	return run(ctx, cfg, *namespace, listener)
}

// run watches a namespace and serves on the listener, which it closes, until ctx
// ends.
func run(ctx context.Context, cfg *rest.Config, namespace string, listener net.Listener) error {
	defer listener.Close()
	log := klog.FromContext(ctx)
	guard, err := transport.Wrap(cfg, transport.Options{Logger: log.WithName("transport")}) // before any client
	if err != nil {
		return err
	}
	clients, err := newClients(cfg)
	if err != nil {
		return err
	}
	defer clients.http.CloseIdleConnections()
	monitor, err := freshness.New(freshness.Options{
		Connections: guard, Metadata: clients.metadata, Logger: log.WithName("freshness"),
		Expected: []freshness.Informer{ // so that none is forgotten
			{Resource: "configmaps", Namespace: namespace},
			{Group: "apps", Resource: "deployments", Namespace: namespace},
			{Resource: "secrets", Namespace: namespace},
		},
	})
	if err != nil {
		return err
	}
	views, err := newViews(log, monitor, clients, namespace)
	if err != nil {
		return err
	}
	handler, err := newHandler(monitor, guard, views.configMaps)
	if err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() { cancel(); views.stop(); running.Wait() }()
	running.Go(func() { _ = guard.Start(ctx) })   // so that it knows when the process is shutting down
	running.Go(func() { _ = monitor.Start(ctx) }) // it fails only where it is started twice
	views.start(ctx)
	running.Go(func() {
		if views.synced(ctx) {
			log.Info("Watching", "namespace", namespace, "address", listener.Addr().String())
		}
	})

	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	running.Go(func() {
		<-ctx.Done()
		log.Info("Stopping")
		soon, enough := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer enough()
		_ = server.Shutdown(soon) // or whoever still reads is cut off
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
