// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/freshwatch/freshwatch/transport"
)

// withDefaults returns o with what parts have in common.
func (o Options) withDefaults() Options {
	if o.DebugPath == "" {
		o.DebugPath = DefaultDebugPath
	}
	if o.Registerer == nil {
		o.Registerer = metrics.Registry
	}
	if o.ExitOnUnauthorized && o.Transport.ExitOnUnauthorized == nil {
		o.Transport.ExitOnUnauthorized = &transport.ExitOptions{}
	}
	if o.Logger.GetSink() == nil {
		o.Logger = ctrl.Log.WithName("freshwatch")
	}
	for name, l := range map[string]*logr.Logger{
		"transport": &o.Transport.Logger, "freshness": &o.Freshness.Logger, "watchcanary": &o.Canary.Logger,
		"reconcile": &o.Reconcile.Default.Logger, "generations": &o.GenerationOptions.Logger,
		"flightrecorder": &o.FlightRecorder.Logger, "freshevents": &o.Events.Logger,
	} {
		if l.GetSink() == nil {
			*l = o.Logger.WithName(name)
		}
	}
	if o.Clock == nil {
		return o
	}
	for _, c := range []*clock.WithTicker{&o.Transport.Clock, &o.Freshness.Clock, &o.Canary.Clock, &o.GenerationOptions.Clock, &o.Events.Clock} {
		def(c, clock.WithTicker(o.Clock))
	}
	for _, c := range []*clock.PassiveClock{&o.Reconcile.Restarts.Clock, &o.FlightRecorder.Clock} {
		def(c, clock.PassiveClock(o.Clock))
	}
	def(&o.Reconcile.Default.Clock, clock.WithDelayedExecution(o.Clock))
	return o
}

// def sets what is not set.
func def[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// check checks what no part checks for itself, and then has those that are made later
// check their options.
func (o Options) check() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("freshwatch: Options."+format, args...))
	}
	if !strings.HasPrefix(o.DebugPath, "/") || o.DebugPath != path.Clean(o.DebugPath) || strings.ContainsAny(o.DebugPath, "{} ") {
		bad("DebugPath is %q, but must begin with /, as a path that http.ServeMux takes literally: without spaces and braces, cleaned, and no / at its end", o.DebugPath)
	}
	if o.DebugPage.Recorder != nil {
		bad("DebugPage.Recorder is set, but must be left to the Guard, whose flight recorder it is")
	}
	if o.Disable.Transport && o.Transport.ExitOnUnauthorized != nil {
		bad("ExitOnUnauthorized is set, but must not be where Disable.Transport is: nobody sees 401s then")
	}
	return errors.Join(append(errs, o.rehearse()...)...)
}
