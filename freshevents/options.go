// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"errors"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// DefaultComponent is who Events are from.
const DefaultComponent = "freshwatch"

// Options configures Events. The zero value is ready for use in a pod.
type Options struct {
	// Object is what Events are about. Kind, Name and UID have to be set, since kubectl
	// describe shows no Events of another UID, and Namespace, unless it is of a kind without.
	//
	// Defaults to this process's own Pod, as its token names it, and where that does not, to
	// the canary's Lease. Where there is neither, as outside of a cluster, one log line says
	// so, and no Event is written.
	Object corev1.ObjectReference

	// Lease and Namespace name the canary's Lease, as in watchcanary.Options.
	//
	// Default to freshwatch-canary, and to the pod's own namespace.
	Lease, Namespace string

	// Component is who Events are from: the column From of kubectl describe. An operator
	// that is known by its own name may say that.
	//
	// Defaults to freshwatch. At most 63 letters, digits, dots and dashes.
	Component string

	// Canary, if set, is a canary's Status. It is looked at every two seconds, must not
	// block, and may be called after Start's context has ended.
	Canary func() watchcanary.Status

	// Reconciles, if set, returns those that run, as for flightrecorder.Sources. As Canary.
	Reconciles func() []flightrecorder.Reconcile

	// SpentBudgets, if set, returns budgets of restarts, other than the canary's, that
	// somebody wants a restart of and that allow none any more, each in a few words, which
	// stay the same for as long as it is spent, as a reconcile.Deadlines' SpentBudgets does.
	// As Canary.
	SpentBudgets func() []string

	// Logger gets a line when Events cannot be written, and when they can again.
	//
	// Defaults to the logger in Start's context, and to klog's where it has none.
	Logger logr.Logger

	// Clock is for tests.
	//
	// Defaults to the real clock.
	Clock clock.WithTicker
}

// withDefaults returns o completed and checked.
func (o Options) withDefaults() (Options, error) {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("freshevents: Options."+format, args...))
	}
	if o.Lease == "" {
		o.Lease = watchcanary.DefaultName
	}
	if o.Component == "" {
		o.Component = DefaultComponent
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if text := validation.IsDNS1123Subdomain(o.Lease); len(text) > 0 {
		bad("Lease is %q, but must be an object's name: %s", o.Lease, text[0])
	}
	if text := validation.IsDNS1123Label(o.Namespace); o.Namespace != "" && len(text) > 0 {
		bad("Namespace is %q, but must be a namespace's name: %s", o.Namespace, text[0])
	}
	if text := validation.IsQualifiedName(o.Component); len(text) > 0 {
		bad("Component is %q, but must be a name: %s", o.Component, text[0])
	}
	if r := o.Object; (r != corev1.ObjectReference{}) {
		for _, f := range []struct{ name, value string }{{"Kind", r.Kind}, {"Name", r.Name}, {"UID", string(r.UID)}} {
			if f.value == "" {
				bad("Object.%s is empty, but must be set where any of Object is: kubectl describe finds Events by it", f.name)
			}
		}
	}
	return o, errors.Join(errs...)
}

// instance tells processes apart whose Events are about one object.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
}
