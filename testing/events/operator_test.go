// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/transport"
)

// operator is a manager in a pod, with informers of ConfigMaps.
type operator struct {
	*pod
	proxy   *faultproxy.API
	events  *freshevents.Events
	monitor *freshness.Monitor

	mu     sync.Mutex
	log    []string // of Events
	stalls int32    // that a flight recorder has told of
	cures  int32    // of those
}

// hear counts what Events are told.
func (o *operator) hear(i flightrecorder.Incident) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case i.Verdict != freshness.Stalled:
	case i.Open():
		o.stalls++
	default:
		o.cures++
	}
}

// heard returns what was counted.
func (o *operator) heard() (stalls, cures int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stalls, o.cures
}

// startOperator starts one, with an informer for each namespace, or one for all, and waits
// until each is fresh.
func startOperator(t *testing.T, p *pod, opts freshevents.Options, namespaces ...string) *operator {
	t.Helper()
	o := &operator{pod: p}
	var err error
	if o.proxy, err = faultproxy.NewAPI(p.plane.Config(), faultproxy.APIOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg := o.proxy.Config(p.cfg)
	var events atomic.Pointer[freshevents.Events]
	recorder := must(flightrecorder.New(flightrecorder.Options{OnIncident: func(i flightrecorder.Incident) {
		o.hear(i)
		events.Load().ObserveIncident(i)
	}}))(t)
	guard := must(transport.Wrap(cfg, transport.Options{Observer: recorder.ObserveTransport}))(t)
	o.monitor = must(freshness.New(freshness.Options{Connections: guard, MaxStaleness: maxStaleness, Observer: recorder.ObserveInformers}))(t)
	if err := recorder.Attach(flightrecorder.Sources{Monitor: o.monitor, Transport: guard}); err != nil {
		t.Fatal(err)
	}
	co := cache.Options{NewInformer: o.monitor.NewInformer}
	for _, ns := range namespaces {
		if co.DefaultNamespaces == nil {
			co.DefaultNamespaces = map[string]cache.Config{}
		}
		co.DefaultNamespaces[ns] = cache.Config{}
	}
	mgr := must(ctrl.NewManager(cfg, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, Cache: co}))(t)
	t.Cleanup(mgr.GetHTTPClient().CloseIdleConnections)
	opts.Logger = funcr.New(func(_, args string) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.log = append(o.log, args)
	}, funcr.Options{})
	o.events = must(freshevents.New(mgr, opts))(t)
	events.Store(o.events)
	for _, r := range []interface{ Start(context.Context) error }{o.monitor, o.events} {
		if err := mgr.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := mgr.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	untilEnd(t, mgr.Start)
	await(t, patience, "all informers are fresh", func() bool { return o.fresh() == max(1, len(namespaces)) })
	return o
}

// untilEnd runs something until the test ends, or stop is called.
func untilEnd(t *testing.T, start func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// fresh counts the informers that are.
func (o *operator) fresh() int {
	n := 0
	for _, st := range o.monitor.Status() {
		if st.Verdict == freshness.Fresh {
			n++
		}
	}
	return n
}

// logged returns the lines of the log that hold a text.
func (o *operator) logged(text string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(o.log), func(line string) bool { return !strings.Contains(line, text) })
}

// writes counts the requests about Events that the proxy has seen.
func (o *operator) writes() int {
	return len(o.proxy.Requests(faultproxy.Match{Resource: "events"}))
}

func httpClient(t *testing.T, cfg *rest.Config) *http.Client {
	t.Helper()
	c := must(rest.HTTPClientFor(cfg))(t)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
