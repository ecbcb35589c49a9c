// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/freshwatch/freshwatch/transport"
)

// part is what a manager and a registry are given of one part.
type part struct {
	name      string
	collector prometheus.Collector
	runnable  manager.Runnable
	checked   string          // the name of its check
	check     healthz.Checker // nil: none
}

// AddTo gives the parts to the manager, which has to be made from what PrepareConfig and
// PrepareManager have prepared, and their series to Options.Registerer. The checks are
// freshness, watch-canary and reconcile, for liveness; readiness is left alone, since a
// pod whose cache is stale still serves webhooks. It fails where something was called out
// of order or twice, names what, and leaves no series then.
func (g *Guard) AddTo(mgr ctrl.Manager) error {
	switch {
	case mgr == nil:
		return errors.New("freshwatch: AddTo wants a manager, got nil")
	case !g.configPrepared || !g.managerPrepared:
		return errors.New("freshwatch: AddTo was called before PrepareConfig or PrepareManager: a manager is made from what they prepare")
	case g.added:
		return errors.New("freshwatch: AddTo was called before: a Guard is for one manager")
	case g.transport != nil && !transport.IsWrapped(mgr.GetConfig()):
		return errors.New("freshwatch: AddTo wants a manager that was made from the config that PrepareConfig was given, or a copy, with its Dial left alone since")
	case g.monitor != nil && !g.clientMade:
		return errors.New("freshwatch: AddTo wants a manager that was made from the options that PrepareManager was given")
	}
	g.added = true
	if err := g.makeWith(mgr); err != nil {
		return err
	}
	parts := g.parts(mgr)
	if err := g.register(parts); err != nil {
		return err
	}
	var names []string
	for _, p := range parts {
		if err := g.add(mgr, p); err != nil {
			g.unregister(parts)
			return fmt.Errorf("freshwatch: %s: %w", p.name, err)
		}
		names = append(names, p.name)
	}
	g.opts.Logger.Info("Guards are added to the manager", "parts", names)
	return nil
}

// parts returns those that are on.
func (g *Guard) parts(mgr ctrl.Manager) (out []part) {
	if g.monitor != nil {
		out = append(out, part{"freshness", g.monitor, WithCaches(mgr.GetCache(), g.monitor), "freshness", g.monitor.Check})
	}
	if g.transport != nil {
		out = append(out, part{name: "transport", collector: g.transport, runnable: g.transport})
	}
	if g.canary != nil {
		out = append(out, part{"watchcanary", g.canary, g.canary, "watch-canary", g.canary.Check})
	}
	if g.deadlines != nil {
		out = append(out, part{"reconcile", g.deadlines, g.deadlines, "reconcile", g.deadlines.Check})
	}
	if g.generations != nil {
		out = append(out, part{name: "generations", collector: g.generations, runnable: g.generations})
	}
	if e := g.Events(); e != nil {
		out = append(out, part{name: "freshevents", collector: e, runnable: e})
	}
	return out
}

func (g *Guard) add(mgr ctrl.Manager, p part) error {
	if err := mgr.Add(p.runnable); err != nil || p.check == nil {
		return err
	}
	if g.recorder != nil {
		p.check = g.recorder.DumpWhenFailing(p.check)
	}
	return mgr.AddHealthzCheck(p.checked, p.check)
}

// register registers all collectors, or none.
func (g *Guard) register(parts []part) error {
	for i, p := range parts {
		if err := g.opts.Registerer.Register(p.collector); err != nil {
			g.unregister(parts[:i])
			return fmt.Errorf("freshwatch: %s: %w (each Guard of a process needs an Options.Registerer of its own)", p.name, err)
		}
	}
	return nil
}

func (g *Guard) unregister(parts []part) {
	for _, p := range parts {
		g.opts.Registerer.Unregister(p.collector)
	}
}
