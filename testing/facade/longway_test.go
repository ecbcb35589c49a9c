// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package facade

import (
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/freshwatch/freshwatch"
	"github.com/freshwatch/freshwatch/debugpage"
	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshclient"
	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// What NewManager does, with single packages. Each can be left out.
func theLongWay(cfg *rest.Config, opts ctrl.Options, series prometheus.Registerer) (ctrl.Manager, *reconcile.Deadlines, error) {
	var events atomic.Pointer[freshevents.Events] // made after the recorder that tells them
	recorder, err := flightrecorder.New(flightrecorder.Options{OnIncident: func(i flightrecorder.Incident) { events.Load().ObserveIncident(i) }})
	if err != nil {
		return nil, nil, err
	}
	guard, err := transport.Wrap(cfg, transport.Options{Observer: recorder.ObserveTransport}) // before anything is made from cfg
	if err != nil {
		return nil, nil, err
	}
	monitor, err := freshness.New(freshness.Options{Connections: guard, Observer: recorder.ObserveInformers})
	if err != nil {
		return nil, nil, err
	}
	page, err := debugpage.New(debugpage.Options{Recorder: recorder})
	if err != nil {
		return nil, nil, err
	}
	opts.Cache.NewInformer = monitor.NewInformer
	opts.NewClient = freshclient.NewClientFunc(monitor)
	opts.Metrics.ExtraHandlers = map[string]http.Handler{"/debug/freshwatch": page}
	mgr, err := ctrl.NewManager(cfg, opts)
	if err != nil {
		return nil, nil, err
	}
	lease, namespace := opts.LeaderElectionID+"-canary", opts.LeaderElectionNamespace
	canary, err := watchcanary.New(mgr, watchcanary.Options{Name: lease, Namespace: namespace, Monitor: monitor})
	if err != nil {
		return nil, nil, err
	}
	deadlines, err := reconcile.NewDeadlines(mgr, reconcile.DeadlinesOptions{Restarts: reconcile.RestartBudgetOptions{Lease: lease, Namespace: namespace}})
	if err != nil {
		return nil, nil, err
	}
	told, err := freshevents.New(mgr, freshevents.Options{
		Lease: lease, Namespace: namespace, Canary: canary.Status, Reconciles: freshwatch.Reconciles(deadlines), SpentBudgets: deadlines.SpentBudgets,
	})
	if err != nil {
		return nil, nil, err
	}
	events.Store(told)
	return mgr, deadlines, errors.Join(
		recorder.Attach(flightrecorder.Sources{Monitor: monitor, Transport: guard, Canary: canary, Reconciles: freshwatch.Reconciles(deadlines)}),
		series.Register(monitor), series.Register(guard), series.Register(canary), series.Register(deadlines), series.Register(told),
		mgr.Add(freshwatch.WithCaches(mgr.GetCache(), monitor)), mgr.Add(guard), mgr.Add(canary), mgr.Add(deadlines), mgr.Add(told),
		mgr.AddHealthzCheck("freshness", recorder.DumpWhenFailing(monitor.Check)), // liveness, never readiness
		mgr.AddHealthzCheck("watch-canary", recorder.DumpWhenFailing(canary.Check)),
		mgr.AddHealthzCheck("reconcile", recorder.DumpWhenFailing(deadlines.Check)),
	)
}
