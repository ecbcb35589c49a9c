// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/transport"
)

// sampleEvery is how often each informer is looked at, between the looks that
// every proof brings.
const sampleEvery = 25 * time.Millisecond

// truthStage is a control plane of its own, some kinds that are edited all the
// time, and two operators in small that have an informer for each.
type truthStage struct {
	plane     *plane
	ns        string
	authors   []*author
	operators []*operator
}

// operator is one program: a monitor, its informers, and the way on which they
// reach the API server.
type operator struct {
	name      string
	monitor   *freshness.Monitor
	api       *faultproxy.API
	front     *faultproxy.TCP // before api
	observers map[string]*observer

	mu     sync.Mutex
	events history
}

func newTruthStage(t *testing.T, seed uint64) *truthStage {
	t.Helper()
	s := &truthStage{plane: ownPlane(t)}
	s.ns = s.plane.namespace(t, "truth")
	for i, w := range []struct {
		kind
		every time.Duration
	}{
		{configMaps, 200 * time.Millisecond},
		{custom("Brisk"), 500 * time.Millisecond},
		{custom("Slow"), 4 * time.Second},
	} {
		s.plane.serve(t, w.kind)
		s.authors = append(s.authors, &author{
			ledger: newLedger(), kind: w.kind, ns: s.ns, every: w.every,
			client: s.plane.dynamic.Resource(w.gvr()).Namespace(s.ns),
			random: rand.New(rand.NewPCG(seed, uint64(i))), //nolint:gosec // to be repeatable
		})
	}
	s.addOperator(t, "by default", freshness.Options{}, nil)
	s.addOperator(t, "in a hurry", freshness.Options{MaxStaleness: 20 * time.Second}, &transport.Options{MaxWatch: 40 * time.Second})
	for _, a := range s.authors {
		untilEnd(t, a.run)
	}
	return s
}

// addOperator runs an operator until the end of the test, with package transport
// below its client where there are options for it.
func (s *truthStage) addOperator(t *testing.T, name string, opts freshness.Options, below *transport.Options) {
	t.Helper()
	o := &operator{name: name, api: startAPI(t, s.plane), observers: map[string]*observer{}}
	o.front = startTCP(t, o.api.Addr())
	cfg := rest.CopyConfig(o.api.Config(s.plane.Config()))
	cfg.Host = "https://" + o.front.Addr()
	if below != nil {
		tr, err := transport.Wrap(cfg, *below)
		if err != nil {
			t.Fatal(err)
		}
		opts.Connections = tr
	}
	opts.Observer = o.note
	var err error
	if o.monitor, err = freshness.New(opts); err != nil {
		t.Fatal(err)
	}
	client := dynamicClient(t, cfg)
	for _, a := range s.authors {
		inf := o.monitor.NewInformer(dynamicLW(client, a.kind, s.ns), &unstructured.Unstructured{}, 0, cache.Indexers{})
		o.observers[a.kind.resource()] = newObserver(a.ledger, inf.GetStore())
		untilEnd(t, inf.RunWithContext)
	}
	s.operators = append(s.operators, o)
	untilEnd(t, func(ctx context.Context) {
		if err := o.monitor.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	untilEnd(t, o.sample)
}

// note hears every proof at the moment at which the monitor believes it. Between
// two of them its claim stays, and a store only gains: so no moment is missed.
func (o *operator) note(e freshness.Event) {
	asked := time.Now()
	o.mu.Lock()
	o.events = append(o.events, e)
	o.mu.Unlock()
	if obs := o.observers[e.Informer.Resource]; obs != nil && e.Type == freshness.Proven {
		obs.hear(statement{asked: asked, asOf: e.FreshAsOf, bound: asked.Sub(e.FreshAsOf), proven: e.Time})
	}
}

// sample looks at what the monitor states all the time.
func (o *operator) sample(ctx context.Context) {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			asked := time.Now()
			for _, st := range o.monitor.Status() {
				if obs := o.observers[st.Informer.Resource]; obs != nil {
					obs.hear(statement{asked: asked, asOf: st.FreshAsOf, bound: st.Staleness})
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// proofs counts those of an informer.
func (o *operator) proofs(k kind) int { return o.history(k).count(freshness.Proven) }

func (o *operator) history(k kind) history {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out history
	for _, e := range o.events {
		if e.Informer.Resource == k.resource() {
			out = append(out, e)
		}
	}
	return out
}

// healthySince tells whether every informer is proven to hold what was committed
// before a moment.
func (s *truthStage) healthySince(moment time.Time) bool {
	for _, o := range s.operators {
		proven := 0
		for _, st := range o.monitor.Status() {
			if st.Verdict == freshness.Fresh && st.FreshAsOf.After(moment) {
				proven++
			}
		}
		if proven < len(s.authors) {
			return false
		}
	}
	return true
}
