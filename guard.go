// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"net/http"
	"sync/atomic"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// Guard is all guards of one manager. Make it with New, and show it first the config, then
// the options that the manager is made from, then the manager, by PrepareConfig,
// PrepareManager and AddTo, each once; or have NewManager do all of that. These are called
// one after the other; once AddTo has returned, the accessors are safe for concurrent use.
type Guard struct {
	opts          Options
	namespaceFile string // of the pod

	configPrepared, managerPrepared, clientMade, added bool
	// What the manager's options say of leader election.
	electionNamespace, electionID string

	transport   *transport.Transport
	monitor     *freshness.Monitor
	canary      *watchcanary.Canary
	deadlines   *reconcile.Deadlines
	generations *reconcile.Generations
	recorder    *flightrecorder.Recorder
	page        http.Handler
	events      atomic.Pointer[freshevents.Events] // made after the recorder that it hears of incidents from
}

// Transport returns what guards the connections, once PrepareConfig was called; nil where
// that is off.
func (g *Guard) Transport() *transport.Transport { return g.transport }

// Monitor returns the monitor of the manager's informers; nil where that is off.
func (g *Guard) Monitor() *freshness.Monitor { return g.monitor }

// Canary returns the watch canary, once AddTo was called; nil where that is off, or has no
// namespace.
func (g *Guard) Canary() *watchcanary.Canary { return g.canary }

// Deadlines returns those of the controllers, once AddTo was called; nil where they are
// off.
func (g *Guard) Deadlines() *reconcile.Deadlines { return g.deadlines }

// Generations returns what reads objects live, once AddTo was called; nil without kinds.
func (g *Guard) Generations() *reconcile.Generations { return g.generations }

// Recorder returns the flight recorder; nil where that is off.
func (g *Guard) Recorder() *flightrecorder.Recorder { return g.recorder }

// Events returns what writes Kubernetes Events, once AddTo was called; nil where that is
// off.
func (g *Guard) Events() *freshevents.Events { return g.events.Load() }

// DebugPage returns the page, for a server of your own; nil where it is off.
func (g *Guard) DebugPage() http.Handler { return g.page }
