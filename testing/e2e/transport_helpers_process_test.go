// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"io"
	"maps"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// twinsJob has the helper process run informers of the job's kind by a wrapped
// config and by a stock one, and one of another kind by the wrapped one.
type twinsJob struct {
	IdleTimeout time.Duration
	Other       string // the kind, of the core group
}

// twinsReport tells what they see, and how many watches of the wrapped config have
// ended for which reason.
type twinsReport struct {
	Agent, Sees string
	Ended       map[string]float64
}

func (j job) runTwins(cfg *rest.Config, out *reporter) error {
	wrapped, stock := rest.CopyConfig(cfg), rest.CopyConfig(cfg)
	wrapped.UserAgent, stock.UserAgent = twinAgent, stockAgent
	tr, err := transport.Wrap(wrapped, transport.Options{IdleTimeout: j.Twins.IdleTimeout})
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(wrapped)
	if err != nil {
		return err
	}
	stockClient, err := dynamic.NewForConfig(stock)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer func() { cancel(); wg.Wait() }()
	k := kind{group: j.Group, name: j.Kind}
	for _, i := range []struct {
		client dynamic.Interface
		agent  string
		kind   kind
	}{{client, twinAgent, k}, {stockClient, stockAgent, k}, {client, twinAgent, kind{name: j.Twins.Other}}} {
		inf := cache.NewSharedIndexInformer(withoutWatchList(dynamicLW(i.client, i.kind, j.Namespace)), &unstructured.Unstructured{}, 0, cache.Indexers{})
		see := func(obj any) {
			if u, ok := obj.(*unstructured.Unstructured); ok && u.GetName() == j.Object {
				out.send(report{Twins: &twinsReport{Agent: i.agent, Sees: colorOf(u)}})
			}
		}
		if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, obj any) { see(obj) }}); err != nil {
			return err
		}
		wg.Go(func() { inf.RunWithContext(ctx) })
	}
	wg.Go(func() { reportEnds(ctx, tr, out) })
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// reportEnds tells of each watch that has ended.
func reportEnds(ctx context.Context, tr *transport.Transport, out *reporter) {
	last := map[string]float64{}
	poll.Until(ctx, time.Hour, func() bool {
		all, err := endsOf(tr)
		if err != nil {
			out.send(report{Failure: err.Error()})
			return true
		}
		if now := all["watch"]; !maps.Equal(now, last) {
			last = now
			out.send(report{Twins: &twinsReport{Ended: now}})
		}
		return false
	})
}
