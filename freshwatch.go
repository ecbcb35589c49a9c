// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"errors"

	"github.com/freshwatch/freshwatch/debugpage"
	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/internal/restartlease"
)

// New returns a Guard. It checks every option, those of the parts that are made later
// included, and sends nothing. The error names the field, its value and the rule.
func New(o Options) (*Guard, error) {
	g := &Guard{opts: o.withDefaults(), namespaceFile: restartlease.NamespaceFile}
	if err := errors.Join(g.opts.check(), g.record(), g.monitorInformers()); err != nil {
		return nil, err
	}
	return g, nil
}

// record makes the flight recorder and its page, and has the other parts tell it.
func (g *Guard) record() (err error) {
	o := &g.opts
	if o.Disable.FlightRecorder {
		return nil
	}
	recorder := o.FlightRecorder
	if !o.Disable.Events {
		recorder.OnIncident = both(recorder.OnIncident, func(i flightrecorder.Incident) { g.Events().ObserveIncident(i) })
	}
	if g.recorder, err = flightrecorder.New(recorder); err != nil {
		return err
	}
	o.Transport.Observer = both(o.Transport.Observer, g.recorder.ObserveTransport)
	o.Freshness.Observer = both(o.Freshness.Observer, g.recorder.ObserveInformers)
	if exit := o.Transport.ExitOnUnauthorized; exit != nil && exit.FlightRecorder == nil {
		own := *exit
		own.FlightRecorder = g.recorder
		o.Transport.ExitOnUnauthorized = &own
	}
	if o.Disable.DebugPage || o.DebugPage.Recorder != nil {
		return nil
	}
	o.DebugPage.Recorder = g.recorder
	g.page, err = debugpage.New(o.DebugPage)
	return err
}

// both returns what calls both. The first may be nil.
func both[event any](first, second func(event)) func(event) {
	if first == nil {
		return second
	}
	return func(e event) {
		first(e)
		second(e)
	}
}

// monitorInformers makes the monitor.
func (g *Guard) monitorInformers() (err error) {
	if g.opts.Disable.Freshness {
		return nil
	}
	if g.opts.Freshness.Connections == nil && !g.opts.Disable.Transport {
		g.opts.Freshness.Connections = connections{g}
	}
	g.monitor, err = freshness.New(g.opts.Freshness)
	return err
}

// connections are those of the config, which is prepared after the monitor is made.
type connections struct{ *Guard }

// Recycle is as that of a transport.Transport.
func (c connections) Recycle() int {
	if t := c.Transport(); t != nil {
		return t.Recycle()
	}
	return 0
}
