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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
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
	ctx     context.Context //nolint:containedctx // of the informers, which can be stopped and made anew
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

// startTwins runs a job's informers, each side with a client of its own.
func startTwins(guarded, stock *rest.Config, j job) (_ *twins, err error) {
	t := &twins{job: j, metrics: prometheus.NewRegistry(), configs: [2]*rest.Config{guarded, stock}}
	t.handler.perEvent = j.PerEvent
	t.ctx, t.cancel = context.WithCancel(context.Background())
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
	if err := t.makeInformers(); err != nil {
		return nil, err
	}
	t.wg.Go(func() { _ = t.monitor.Start(t.ctx) }) // fails only if it was started before
	t.wg.Go(func() { t.watchOver(t.ctx) })
	return t, nil
}

// makeInformers makes them all, and has them run.
func (t *twins) makeInformers() error {
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
	ctx, cancel := context.WithCancel(t.ctx)
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
	t.stopThem()
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
func (t *twins) inform(side int, ns string, make newInformer) (cache.SharedIndexInformer, error) {
	cfg, client := t.configs[side], t.clients[side]
	if t.job.Typed {
		lw, err := typedLW(cfg, client, t.job.Kind, ns)
		if err != nil {
			return nil, err
		}
		return make(lw, &thing{}, 0, cache.Indexers{}), nil
	}
	untyped, err := dynamic.NewForConfigAndClient(cfg, client)
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(t.job.Kind.gvk())
	return make(t.job.reads(untyped.Resource(t.job.Kind.read()).Namespace(ns)), obj, 0, cache.Indexers{}), nil
}

// reads is what an untyped informer reads by.
func (j job) reads(r dynamic.ResourceInterface) cache.ListerWatcher {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if j.WatchFor > 0 && o.TimeoutSeconds != nil {
				o.TimeoutSeconds = new(min(*o.TimeoutSeconds, int64(j.WatchFor/time.Second)))
			}
			return r.Watch(ctx, o)
		},
	}
	if j.ListFirst {
		return listFirst{lw}
	}
	return lw
}

// listFirst makes client-go's reflector fill its cache by LIST, as it does by itself
// where the server has no WatchList.
type listFirst struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is what the reflector asks.
func (listFirst) IsWatchListSemanticsUnSupported() bool { return true }

func (t *twins) note(e freshness.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, newEvent(e))
}

// watchOver does what a kubelet does, and writes down what the guard says.
func (t *twins) watchOver(ctx context.Context) {
	await(ctx, 24*time.Hour, func() bool {
		err, status := t.monitor.Check(nil), t.monitor.Status()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.unhealthy == "" && err != nil {
			t.unhealthy = err.Error()
		}
		for _, s := range status {
			switch {
			case s.Behind != freshness.LevelNone:
				t.hear(reason{At: time.Now(), Verdict: int(s.Verdict), Text: s.Behind.String() + ": " + s.Reason})
			case s.Verdict != freshness.Fresh:
				t.hear(reason{At: time.Now(), Verdict: int(s.Verdict), Text: s.Reason})
			}
		}
		return false
	})
}

// hear notes what was not said a moment ago. The caller holds the lock.
func (t *twins) hear(r reason) {
	const most = 200
	if n := len(t.reasons); n < most && (n == 0 || t.reasons[n-1].Text != r.Text) {
		t.reasons = append(t.reasons, r)
	}
}

// snapshot implements cast.
func (t *twins) snapshot() snapshot {
	status := t.monitor.Status()
	t.mu.Lock()
	defer t.mu.Unlock()
	s := snapshot{
		Guarded: t.color(t.guarded[0]), Stock: t.color(t.stock), Synced: t.stock.HasSynced(),
		Ends: t.ends(), Handled: t.handler.handled.Load(),
		Events: slices.Clone(t.events), Reasons: slices.Clone(t.reasons), Unhealthy: t.unhealthy,
	}
	for _, inf := range t.guarded {
		s.Synced = s.Synced && inf.HasSynced()
	}
	for _, st := range status {
		s.Informers = append(s.Informers, informerState{
			Name: st.Informer.String(), Verdict: int(st.Verdict), FreshAsOf: st.FreshAsOf,
			Proofs: st.Proofs, Doubts: st.Doubts, Renewals: st.Renewals,
		})
	}
	return s
}

// color is that of the edited object in an informer's cache.
func (t *twins) color(inf cache.SharedIndexInformer) string {
	obj, ok, err := inf.GetStore().GetByKey(t.job.Namespaces[0] + "/" + edited)
	if err != nil || !ok {
		return ""
	}
	return colorOf(obj)
}

// ends reads off the transport's metrics why lists and watches ended.
func (t *twins) ends() map[string]float64 {
	families, err := t.metrics.Gather()
	if err != nil {
		return nil
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "freshwatch_transport_streams_ended_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "reason" && m.GetCounter().GetValue() > 0 {
					out[l.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
	}
	return out
}

// close implements cast.
func (t *twins) close() error {
	t.handler.release()
	t.cancel()
	t.wg.Wait()
	for _, c := range t.clients {
		c.CloseIdleConnections()
	}
	return nil
}
