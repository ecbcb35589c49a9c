// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/internal/restartlease"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// makeWith makes the parts that want a manager, and shows them to the recorder.
func (g *Guard) makeWith(mgr ctrl.Manager) (err error) {
	o, homeless := g.placed()
	if homeless {
		o.Logger.Info("Not in a pod, and no namespace for a Lease: the watch canary is off, and no reconcile that hangs leads to a restart. To have both, set Options.Canary.Namespace (--watch-canary-namespace) or ctrl.Options.LeaderElectionNamespace")
	}
	if !o.Disable.Canary {
		if o.Canary.Monitor == nil {
			o.Canary.Monitor = g.monitor
		}
		if g.canary, err = watchcanary.New(mgr, o.Canary); err != nil {
			return err
		}
	}
	if !o.Disable.Reconcile {
		if g.deadlines, err = reconcile.NewDeadlines(mgr, o.Reconcile); err != nil {
			return err
		}
	}
	if len(o.Generations) > 0 {
		if g.generations, err = reconcile.NewGenerations(mgr, o.Generations, o.GenerationOptions); err != nil {
			return err
		}
	}
	if err := g.makeEvents(mgr, o.Events); err != nil {
		return err
	}
	if g.recorder == nil {
		return nil
	}
	return g.recorder.Attach(flightrecorder.Sources{Monitor: g.monitor, Transport: g.transport, Canary: g.canary, Reconciles: Reconciles(g.deadlines)})
}

// placed returns the options with the Lease of the canary and of deadlines. Without what
// wants one where it is homeless.
func (g *Guard) placed() (o Options, homeless bool) {
	o = g.opts
	if id := g.electionID; id != "" && len(validation.IsDNS1123Subdomain(id+leaseSuffix)) == 0 {
		def(&o.Canary.Name, id+leaseSuffix)
	}
	def(&o.Canary.Name, watchcanary.DefaultName)
	def(&o.Canary.Namespace, g.electionNamespace)
	if o.Canary.Namespace == "" {
		o.Canary.Namespace, _ = restartlease.Namespace("", "", g.namespaceFile)
	}
	restarts := &o.Reconcile.Restarts
	def(&restarts.Lease, o.Canary.Name)
	def(&restarts.Namespace, o.Canary.Namespace)
	def(&o.Events.Lease, o.Canary.Name)
	def(&o.Events.Namespace, o.Canary.Namespace)

	budget := !o.Disable.Reconcile && o.Reconcile.Default.Budget == nil && !o.Reconcile.Default.NeverFail
	homeless = budget && restarts.Namespace == ""
	if homeless {
		o.Reconcile.Default.NeverFail = true
	}
	if !o.Disable.Canary && o.Canary.Namespace == "" {
		o.Disable.Canary, homeless = true, true
	}
	return o, homeless
}

// leaseSuffix follows the ID of leader election, whose own Lease has that as its name.
const leaseSuffix = "-canary"

// makeEvents makes what writes Events of what there is.
func (g *Guard) makeEvents(mgr ctrl.Manager, o freshevents.Options) error {
	if g.opts.Disable.Events {
		return nil
	}
	if o.Canary == nil && g.canary != nil {
		o.Canary = g.canary.Status
	}
	if o.Reconciles == nil {
		o.Reconciles = Reconciles(g.deadlines)
	}
	if o.SpentBudgets == nil && g.deadlines != nil {
		o.SpentBudgets = g.deadlines.SpentBudgets
	}
	e, err := freshevents.New(mgr, o)
	if err != nil {
		return err
	}
	g.events.Store(e)
	return nil
}
