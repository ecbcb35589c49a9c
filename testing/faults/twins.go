// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

// twins are a cast in this process.
type twins struct {
	job     job
	monitor *freshness.Monitor
	metrics *prometheus.Registry
	handler slowHandler

	configs [2]*rest.Config // guarded and stock
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	clients []*http.Client

	mu        sync.Mutex
	guarded   []cache.SharedIndexInformer
	stock     cache.SharedIndexInformer
	stopThem  context.CancelFunc
	events    history
	reasons   []reason
	unhealthy string
}

// startTwins runs a job's informers, each side with a client of its own, until
// close.
func startTwins(ctx context.Context, guarded, stock *rest.Config, j job) (_ *twins, err error) {
	t := &twins{job: j, metrics: prometheus.NewRegistry(), configs: [2]*rest.Config{guarded, stock}}
	t.handler.perEvent = j.PerEvent
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	if err := t.guard(guarded); err != nil {
		return nil, err
	}
	if _, err := t.client(stock); err != nil {
		return nil, err
	}
	if err := t.makeInformers(ctx); err != nil {
		return nil, err
	}
	t.wg.Go(func() { _ = t.monitor.Start(ctx) }) // fails only if it was started before
	t.wg.Go(func() { t.watchOver(ctx) })
	return t, nil
}

// makeInformers makes them all, and has them run until they are stopped.
func (t *twins) makeInformers(ctx context.Context) error {
	var guarded []cache.SharedIndexInformer
	for _, ns := range t.job.Namespaces {
		inf, err := t.inform(0, ns, t.monitor.NewInformer)
		if err != nil {
			return err
		}
		guarded = append(guarded, inf)
	}
	stock, err := t.inform(1, t.job.Namespaces[0], cache.NewSharedIndexInformer)
	if err != nil {
		return err
	}
	if _, err := t.monitor.AddEventHandler(guarded[0], &t.handler); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t.mu.Lock()
	t.guarded, t.stock, t.stopThem = guarded, stock, cancel
	t.mu.Unlock()
	for _, inf := range append(slices.Clone(guarded), stock) {
		t.wg.Go(func() { inf.RunWithContext(ctx) })
	}
	return nil
}

// stopInformers stops them as a program does that does not want them any more.
func (t *twins) stopInformers() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopThem != nil {
		t.stopThem()
	}
}

// guard makes the guarded side.
func (t *twins) guard(cfg *rest.Config) error {
	opts := t.job.options()
	opts.Observer = t.note
	if t.job.Transport && !t.job.Unguarded {
		wrapped, err := transport.Wrap(cfg, transport.Options{MaxWatch: t.job.MaxWatch})
		if err != nil {
			return err
		}
		opts.Connections = wrapped
		if err := t.metrics.Register(wrapped); err != nil {
			return err
		}
	}
	client, err := t.client(cfg)
	if err != nil {
		return err
	}
	audits := &http.Client{Transport: &agent{name: auditAgent, RoundTripper: client.Transport}}
	if opts.Metadata, err = metadata.NewForConfigAndClient(metadata.ConfigFor(cfg), audits); err != nil {
		return err
	}
	if t.job.change != nil {
		t.job.change(&opts)
	}
	t.monitor, err = freshness.New(opts)
	return err
}

// client returns an HTTP client with connections of its own: client-go shares those
// of configurations that are equal to it.
func (t *twins) client(cfg *rest.Config) (*http.Client, error) {
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	if t.job.HTTP1 {
		cfg.NextProtos = []string{"http/1.1"}
	}
	client, err := rest.HTTPClientFor(cfg)
	if err == nil {
		t.clients = append(t.clients, client)
	}
	return client, err
}

type newInformer func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer

// inform makes an informer of one side.
func (t *twins) inform(side int, ns string, create newInformer) (cache.SharedIndexInformer, error) {
	cfg, client := t.configs[side], t.clients[side]
	if t.job.Typed {
		lw, err := typedLW(cfg, client, t.job.Kind, ns)
		if err != nil {
			return nil, err
		}
		return create(lw, &thing{}, 0, cache.Indexers{}), nil
	}
	untyped, err := dynamic.NewForConfigAndClient(cfg, client)
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(t.job.Kind.gvk())
	return create(t.job.reads(untyped.Resource(t.job.Kind.read()).Namespace(ns)), obj, 0, cache.Indexers{}), nil
}

// close implements cast.
func (t *twins) close() error {
	t.handler.release()
	t.cancel()
	t.stopInformers()
	t.wg.Wait()
	for _, c := range t.clients {
		c.CloseIdleConnections()
	}
	return nil
}
