// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"errors"
	"fmt"
	"maps"
	"net/http"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/freshclient"
	"github.com/freshwatch/freshwatch/transport"
)

// PrepareConfig guards every client that is made from cfg from now on, the manager's above
// all: it is transport.Wrap, and changes cfg in place. It fails if cfg is guarded already,
// or cannot be.
func (g *Guard) PrepareConfig(cfg *rest.Config) (err error) {
	if g.configPrepared {
		return errors.New("freshwatch: PrepareConfig was called before: a Guard is for one config and its manager")
	}
	if !g.opts.Disable.Transport {
		if g.transport, err = transport.Wrap(cfg, g.opts.Transport); err != nil {
			return err
		}
	}
	g.configPrepared = true
	return nil
}

// PrepareManager changes the options that a manager is to be made from: Cache.NewInformer,
// so that each informer is monitored; NewClient, around the one that is there, so that
// what the program writes is evidence; and Metrics.ExtraHandlers, with the page. It logs
// one line each where there is no server for checks, or for metrics and the page. It fails
// if NewInformer is set already, or the page's path is taken, and changes nothing then.
func (g *Guard) PrepareManager(o *ctrl.Options) error {
	switch {
	case o == nil:
		return errors.New("freshwatch: PrepareManager wants the ctrl.Options of a manager, got nil")
	case g.managerPrepared:
		return errors.New("freshwatch: PrepareManager was called before: a Guard is for one manager")
	case g.monitor != nil && o.Cache.NewInformer != nil:
		return errors.New("freshwatch: ctrl.Options.Cache.NewInformer is set, but must be left to the Guard, or Options.Disable.Freshness set: an informer is made by one of them")
	}
	if _, taken := o.Metrics.ExtraHandlers[g.opts.DebugPath]; g.page != nil && taken {
		return fmt.Errorf("freshwatch: ctrl.Options.Metrics.ExtraHandlers has %q already, but Options.DebugPath must be another path than all of them", g.opts.DebugPath)
	}
	g.managerPrepared = true
	g.electionNamespace, g.electionID = o.LeaderElectionNamespace, o.LeaderElectionID
	if g.monitor != nil {
		o.Cache.NewInformer = g.monitor.NewInformer
		o.NewClient = g.newClient(o.NewClient)
	}
	if g.page != nil {
		o.Metrics.ExtraHandlers = maps.Clone(o.Metrics.ExtraHandlers)
		if o.Metrics.ExtraHandlers == nil {
			o.Metrics.ExtraHandlers = map[string]http.Handler{}
		}
		o.Metrics.ExtraHandlers[g.opts.DebugPath] = g.page
	}
	if a := o.HealthProbeBindAddress; a == "" || a == "0" {
		g.opts.Logger.Info("Nobody can ask the checks, so that nothing is restarted: set ctrl.Options.HealthProbeBindAddress, and the livenessProbe of the pod")
	}
	if o.Metrics.BindAddress == "0" {
		g.opts.Logger.Info("There is no server for metrics and the page: set ctrl.Options.Metrics.BindAddress", "page", g.opts.DebugPath)
	}
	return nil
}

// newClient returns what makes the manager's client.
func (g *Guard) newClient(inner client.NewClientFunc) client.NewClientFunc {
	if inner == nil {
		inner = client.New
	}
	return func(cfg *rest.Config, o client.Options) (client.Client, error) {
		c, err := inner(cfg, o)
		if err != nil {
			return nil, err
		}
		g.clientMade = true
		return freshclient.NewClient(c, g.monitor)
	}
}
